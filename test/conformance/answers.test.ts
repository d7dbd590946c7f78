import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { shared } from '../shared.ts'
import { runs } from '../suite/runs.ts'
import type { Cell } from './cell.ts'
import { providers } from './providers/index.ts'
import { startStand } from './stand.ts'
import { chat } from './wires/chat.ts'
import { messages } from './wires/messages.ts'
import { responses } from './wires/responses.ts'

/** Plain answers of every provider with something in them changed: an answer, or the provider's failure. */

const stand = shared(() => startStand(providers))
beforeEach(() => {
  stand.gateway.logged.length = 0
  stand.reset()
})

const weather = { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } }
const script = {
  reasoning: 'Hm…',
  content: 'Grüezi',
  toolCalls: [{ name: 'weather', arguments: { city: 'Bern' } }],
}

/** The JSON that the stand-in answers with, by asking it once more what the gateway asked. */
async function answerOf(cell: Cell): Promise<unknown> {
  const { content, ...silent } = script
  cell.upstream.reply({ ...(cell.provider.name === 'cohere' ? silent : script), times: 2 })
  await cell.ask({ model: cell.model('reasoning'), tools: [weather] })
  const { path, query, headers, rawBody } = cell.sent
  const { host: _, 'content-length': __, connection: ___, ...kept } = headers
  const address = `${cell.upstream.url}${path}${query.size > 0 ? `?${query}` : ''}`
  const init = { method: 'POST', headers: kept as Record<string, string>, body: rawBody }
  return (await fetch(address, init)).json()
}

const others = [
  undefined,
  null,
  true,
  0,
  -1,
  1e308,
  '',
  'x',
  [],
  {},
  [null],
  [[]],
  [{}],
  { text: null },
] as const

/** Where something is changed, as a number for each step down, and into what; undefined takes it out. */
const changes = fc.array(
  fc.record({
    steps: fc.array(fc.nat(), { minLength: 1, maxLength: 7 }),
    to: fc.constantFrom<unknown>(...others),
  }),
  { minLength: 1, maxLength: 2 },
)

function changed(node: unknown, steps: readonly number[], to: unknown): unknown {
  const [step, ...rest] = steps
  if (step === undefined || typeof node !== 'object' || node === null) return to
  const names = Object.keys(node)
  if (names.length === 0) return to
  const name = names[step % names.length]!
  const copy = (Array.isArray(node) ? [...node] : { ...node }) as Record<string, unknown>
  copy[name] = changed(copy[name], rest, to)
  return copy
}

const ways = [
  ...providers.map((provider) => ({ wire: chat, provider })),
  ...providers
    .filter(({ name }) => ['openai', 'anthropic', 'gemini'].includes(name))
    .flatMap((provider) => [messages, responses].map((wire) => ({ wire, provider }))),
].map((way) => ({ ...way, name: `${way.wire.id} to ${way.provider.name}` }))

describe.each(ways)('$name', ({ wire, provider }) => {
  test('an answer that was changed is one, or a failure of the provider', async () => {
    const cell = stand.cell(wire, provider)
    const answer = await answerOf(cell)
    cell.upstream.reset()
    await fc.assert(
      fc.asyncProperty(changes, async (marks) => {
        const body = marks.reduce((whole, { steps, to }) => changed(whole, steps, to), answer) ?? 'null'
        cell.upstream.reply({ body })
        const asked = cell.ask({ model: cell.model('reasoning'), tools: [weather] })
        const thrown: unknown = await asked.then(
          () => undefined,
          (error: unknown) => error,
        )
        const problem = thrown === undefined ? undefined : cell.client.problemOf(thrown)
        if (problem?.status !== undefined) expect([502, 504]).toContain(problem.status)
      }),
      runs(40),
    )
    expect(
      stand.gateway.logged.filter((line) => /a call failed|a protocol failed|"level":50/.test(line)),
    ).toEqual([])
  })
})
