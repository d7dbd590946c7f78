import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { shared } from '../shared.ts'
import { runs } from '../suite/runs.ts'
import type { Cell } from './cell.ts'
import { changes, odd, unspeakable } from './odd.ts'
import { providers } from './providers/index.ts'
import { askRaw } from './raw.ts'
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

/** The JSON that the fake provider answers with, by asking it once more what the gateway asked. */
async function answerOf(cell: Cell): Promise<unknown> {
  const { content, ...silent } = script
  cell.reply({ ...(cell.provider.name === 'cohere' ? silent : script), times: 2 })
  await cell.ask({ model: cell.model('reasoning'), tools: [weather] })
  const { path, query, headers, rawBody } = cell.sent
  const { host: _, 'content-length': __, connection: ___, ...kept } = headers
  const address = `${cell.upstream.url}${path}${query.size > 0 ? `?${query}` : ''}`
  const init = { method: 'POST', headers: kept as Record<string, string>, body: rawBody }
  return (await fetch(address, init)).json()
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
        const body = odd(answer, marks) ?? 'null'
        cell.reply({ body })
        const asked = cell.ask({ model: cell.model('reasoning'), tools: [weather] })
        const thrown: unknown = await asked.then(
          () => undefined,
          (error: unknown) => error,
        )
        const problem = thrown === undefined ? undefined : cell.client.problemOf(thrown)
        if (problem?.status !== undefined) expect([502, 504]).toContain(problem.status)
        expect(problem?.message ?? '').not.toMatch(unspeakable)
      }),
      runs(40),
    )
    expect(
      stand.gateway.logged.filter((line) => /a call failed|a protocol failed|"level":50/.test(line)),
    ).toEqual([])
  })
})

/** Errors as services write them. */
const errors = [
  {
    error: {
      message: 'm',
      type: 't',
      code: 'c',
      param: 'p',
      status: 'UNAVAILABLE',
      details: [{ reason: 'r', retryDelay: '3s' }],
    },
  },
  { type: 'error', error: { type: 'overloaded_error', message: 'm' } },
  { message: 'm', __type: 'a#ThrottlingException' },
  [{ error: { message: 'm' } }],
  { detail: [{ msg: 'x', loc: ['body'] }] },
]

describe.each(providers)('an error of $name', (provider) => {
  test('that is written oddly is told in words, as an answer and inside a stream', async () => {
    const statuses = fc.constantFrom(200, 400, 401, 404, 429, 500)
    await fc.assert(
      fc.asyncProperty(
        changes,
        fc.constantFrom(...errors),
        statuses,
        fc.boolean(),
        async (made, error, status, stream) => {
          const body = odd(error, made) ?? 'null'
          stand.upstream(provider).reset()
          stand
            .upstream(provider)
            .reply({ status, body, ...(stream && { chunks: [`data: ${JSON.stringify(body)}\n\n`] }) })
          const asked = { messages: [{ role: 'user', content: 'hi' }], stream }
          const answer = await askRaw(stand, 'chat', provider, asked)
          expect([200, 400, 404, 429, 502, 503, 504]).toContain(answer.status)
          if (answer.status !== 200) expect(answer.text).not.toMatch(unspeakable)
        },
      ),
      runs(40),
    )
    expect(stand.gateway.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
  })
})
