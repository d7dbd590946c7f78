import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { Assembler } from '#kit'
import { arrangementOf, ProviderDirectory } from '#provider'
import type { Target } from '../../contract/provider.ts'
import type { Chunk } from '../../kit/canonical/chunk.ts'
import { isGatewayError, UpstreamError } from '../../kit/errors.ts'
import { callWith } from '../chain.ts'
import { shared } from '../shared.ts'
import { runs } from '../suite/runs.ts'
import type { Cell } from './cell.ts'
import { providers } from './providers/index.ts'
import type { TestProvider } from './providers/provider.ts'
import { startStand } from './stand.ts'
import { chat } from './wires/chat.ts'
import { wires } from './wires/index.ts'

/** Streams of every provider, cut anywhere, broken anywhere, or of no sense at all: the same, an error, never a hang. */

const stand = shared(() => startStand(providers))
beforeEach(() => {
  stand.gateway.logged.length = 0
  stand.reset()
})

const script = {
  reasoning: 'Hm… 世界',
  content: ['Grü', 'ezi 👋', '\n\ndata: no'],
  toolCalls: [{ name: 'weather', arguments: { city: 'Zürich "ZH"' } }],
}
const tools = [{ name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } }]

/** The bytes of a stream as the fake provider sends them, by asking it once more what the gateway asked. */
async function bytesFrom(cell: Cell): Promise<Buffer> {
  const { reasoning, toolCalls, content } = script
  cell.upstream.reply({ reasoning, toolCalls, ...(cell.provider.name !== 'cohere' && { content }), times: 2 })
  await cell.ask({ model: cell.model('reasoning'), tools, stream: true })
  const { path, query, headers, rawBody } = cell.sent
  const { host: _, 'content-length': __, connection: ___, ...kept } = headers
  const address = `${cell.upstream.url}${path}${query.size > 0 ? `?${query}` : ''}`
  const response = await fetch(address, {
    method: 'POST',
    headers: kept as Record<string, string>,
    body: rawBody,
  })
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

/** What the provider's protocol makes of a stream in these pieces. */
function* decoded(provider: TestProvider, pieces: readonly Buffer[]): Generator<Chunk> {
  const { kernel } = stand.gateway
  const entry = kernel.service(ProviderDirectory)!.get(provider.name)
  const model = provider.models.reasoning ?? provider.models.chat
  const target: Target = { provider: entry, model, key: entry.keys[0] }
  const call = callWith({ model, messages: [{ role: 'user', content: 'hi' }], tools: [], stream: true })
  const protocol = arrangementOf(kernel.registry.generation).protocols.get(entry.protocol)!
  const decoder = protocol.decoder({ status: 200, headers: {} }, call, target)
  for (const piece of pieces) yield* decoder.push(piece)
  yield* decoder.end()
}

const read = (provider: TestProvider, pieces: readonly Buffer[]): Chunk[] => [...decoded(provider, pieces)]

const texts = new Set(['content', 'reasoning_content', 'arguments', 'text', 'obfuscation'])

/** What they say: the answer, and what it is made of, in order. Neighbours that only add text may come as one. */
function said(chunks: readonly Chunk[]): unknown[] {
  const answer = new Assembler()
  const kinds: unknown[] = []
  for (const { data } of chunks) {
    const { created: _, ...rest } = data
    answer.add(rest as typeof data)
    const kind = JSON.parse(JSON.stringify(rest, (field, value) => (texts.has(field) ? !!value : value)))
    if (!isDeepStrictEqual(kind, kinds.at(-1))) kinds.push(kind)
  }
  return [answer.completion(), ...kinds]
}

function cut(bytes: Buffer, offsets: readonly number[]): Buffer[] {
  const inside = offsets.map((offset) => offset % (bytes.length + 1))
  const bounds = [0, ...[...new Set(inside)].toSorted((a, b) => a - b), bytes.length]
  return bounds.slice(1).map((end, i) => bytes.subarray(bounds[i], end))
}

const offsets = fc.array(fc.nat(), { maxLength: 12 })

/** Ways to break a stream: bytes changed, left out, put in, or a part of it sent again. */
const damage = fc.array(
  fc.record({
    at: fc.nat(),
    length: fc.nat({ max: 40 }),
    put: fc.uint8Array({ maxLength: 8 }),
    again: fc.boolean(),
  }),
  { minLength: 1, maxLength: 3 },
)

function damaged(bytes: Buffer, marks: typeof damage extends fc.Arbitrary<infer T> ? T : never): Buffer {
  return marks.reduce((whole, { at, length, put, again }) => {
    const from = at % (whole.length + 1)
    const part = whole.subarray(from, from + length)
    return Buffer.concat([
      whole.subarray(0, from),
      again ? part : put,
      again ? part : Buffer.of(),
      whole.subarray(from + length),
    ])
  }, bytes)
}

/** Vertex passes its options on to the protocols below it in its own way; those are here under their own names. */
const direct = providers.filter(({ name }) => !name.startsWith('vertex'))

describe.each(direct)('a stream of $name', (provider) => {
  const cell = () => stand.cell(chat, provider)

  test('is the same wherever it is cut', async () => {
    const bytes = await bytesFrom(cell())
    const whole = said(read(provider, [bytes]))
    expect(whole.length).toBeGreaterThan(2)
    expect(said(read(provider, cut(bytes, Array.from(bytes.keys()))))).toEqual(whole)
    fc.assert(
      fc.property(offsets, (at) => {
        expect(said(read(provider, cut(bytes, at)))).toEqual(whole)
      }),
      runs(50),
    )
  })

  test('is nothing more than it was up to its end mark', async (context) => {
    const bytes = await bytesFrom(cell())
    const whole = said(read(provider, [bytes]))
    if (provider.departures?.['ends at its end']) return context.skip()
    fc.assert(
      fc.property(offsets, fc.uint8Array({ maxLength: 100 }), fc.boolean(), (at, behind, again) => {
        const more = again ? bytes : Buffer.from(behind)
        expect(said(read(provider, cut(Buffer.concat([bytes, more]), at)))).toEqual(whole)
      }),
      runs(50),
    )
  })

  test('tells what came before an error first, wherever it is cut', () => {
    const bytes = Buffer.concat(provider.broken.chat.map((part) => Buffer.from(part)))
    fc.assert(
      fc.property(offsets, (at) => {
        const told: unknown[] = []
        expect(() => {
          for (const { data } of decoded(provider, cut(bytes, at)))
            told.push(...data.choices.map(({ delta }) => delta?.content))
        }).toThrow(UpstreamError)
        expect(told.join('')).toBe('Well')
      }),
      { examples: [[[]]], ...runs(50) },
    )
  })

  test('that is damaged is read, or refused as the provider’s failure', async () => {
    const bytes = await bytesFrom(cell())
    fc.assert(
      fc.property(damage, offsets, (marks, at) => {
        try {
          said(read(provider, cut(damaged(bytes, marks), at)))
        } catch (error) {
          if (!isGatewayError(error)) throw error
        }
      }),
      runs(300),
    )
  })
})

const names = [
  'choices',
  'delta',
  'message',
  'content',
  'type',
  'index',
  'candidates',
  'parts',
  'usage',
  'error',
  'text',
  'tool_calls',
  'function',
  'finish_reason',
  'content_block',
  'id',
  'contentBlock',
  'usageMetadata',
]
const types = [
  'message_start',
  'content_block_start',
  'content_block_delta',
  'message_stop',
  'message-start',
  'content-delta',
  'message-end',
  'tool-call-start',
]
const { node } = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(fc.constantFrom(null, true, 0, -1, 1e308, '', 'x', ...types)),
    fc.array(tie('node'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie('node'), { maxKeys: 5 }),
  ),
}))
const events = fc.array(fc.dictionary(fc.constantFrom(...names), node, { maxKeys: 6 }), {
  minLength: 1,
  maxLength: 5,
})

const ways = wires.flatMap((wire) =>
  providers
    .filter(({ operations }) => operations.includes(wire.operation))
    .map((provider) => ({ wire, provider, name: `${wire.id} to ${provider.name}` })),
)

describe.each(ways)('events of no sense, $name', ({ wire, provider }) => {
  test('end in an answer or an error, and the next call is served', async () => {
    const one = stand.cell(wire, provider)
    const { broken } = provider
    const beginning = (wire.operation === 'completion' ? broken.completion : broken.chat) ?? []
    await fc.assert(
      fc.asyncProperty(fc.boolean(), events, async (begins, made) => {
        const nonsense = made.map((event) => `data: ${JSON.stringify(event)}\n\n`)
        one.upstream.reply({ chunks: [...(begins ? beginning.slice(0, -1) : []), ...nonsense] })
        await one.ask({ stream: true }).catch(() => undefined)
      }),
      runs(20),
    )
    expect(stand.gateway.logged.filter((line) => /a call failed|a protocol failed/.test(line))).toEqual([])
    one.upstream.reset()
    one.upstream.reply({ content: 'Still here.' })
    expect((await one.ask()).text).toBe('Still here.')
  })
})
