import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Call, Chunk, CompletionChunk, ProviderSpec, Target } from '#kernel'
import { Assembler, encodeEvent, eventsOf } from '#kit'
import { runs } from '../../test/suite/runs.ts'
import { quirksOf } from './quirks.ts'
import { EventDecoder } from './stream.ts'

const provider = { name: 'openai', options: {}, spec: { quirks: {} } as ProviderSpec } as Target['provider']

function decoder(request: object = {}): EventDecoder {
  const call = { request, cancel: { aborted: false } } as unknown as Call
  return new EventDecoder({ provider, model: 'm', key: undefined }, quirksOf(provider), call)
}

const envelope = { id: 'c1', object: 'chat.completion.chunk', model: 'm' }
const chunkOf = (delta: object, finish_reason: string | null = null): CompletionChunk =>
  ({ ...envelope, choices: [{ index: 0, delta, finish_reason }] }) as CompletionChunk

/** What comes of a stream in pieces of these sizes, each of them pushed alone. */
function decoded(events: readonly string[], sizes: readonly number[], request?: object): Chunk[][] {
  const one = decoder(request)
  const bytes = Buffer.from(events.join(''))
  const pushed: Chunk[][] = []
  for (let at = 0, n = 0; at < bytes.length; n += 1) {
    const size = sizes[n % sizes.length]!
    pushed.push([...one.push(Buffer.from(bytes.subarray(at, at + size)))])
    at += size
  }
  return [...pushed, [...one.end()]]
}

const word = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '"', '\\', '\n'), minLength: 1, maxLength: 4 })
const delta = fc.oneof(
  { weight: 8, arbitrary: word.map((content) => ({ content })) },
  { weight: 2, arbitrary: word.map((reasoning_content) => ({ reasoning_content })) },
  word.map((text) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
  word.map((content) => ({ content, annotations: [{ type: 'url_citation' }] })),
)
const stream = fc
  .array(delta, { maxLength: 20 })
  .map((deltas) => [
    chunkOf({ role: 'assistant', content: '' }),
    chunkOf({ content: 'So ' }),
    ...deltas.map((one) => chunkOf(one)),
    chunkOf({}, 'stop'),
    { ...envelope, choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
  ])

test('a stream keeps its bytes, its events and what they mean, at any way of cutting it', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(stream, sizes, (data, cuts) => {
      const events = data.map((one) => encodeEvent(one))
      const chunks = decoded([...events, 'data: [DONE]\n\n'], cuts).flat()
      expect(Buffer.concat(chunks.map(({ raw }) => raw!)).toString()).toBe(events.join(''))
      expect(chunks.reduce((sum, chunk) => sum + chunk.events, 0)).toBe(events.length)
      expect(chunks.flatMap(eventsOf).map(({ raw }) => raw!.toString())).toEqual(events)
      const [whole, given] = [new Assembler(), new Assembler()]
      for (const one of data) whole.add(one)
      for (const chunk of chunks) given.add(chunk.data)
      expect(given.completion()).toEqual(whole.completion())
    }),
    runs(300),
  )
})

test('neighbours that only add text are one chunk, which nothing has parsed', () => {
  const events = [chunkOf({ role: 'assistant', content: '' }), ...['So', ' it', ' goes'].map(text)]
  const [chunks] = decoded([...events.map((one) => encodeEvent(one)), end()], [10_000])
  expect(chunks!.map(({ events, seen }) => [events, seen !== undefined])).toEqual([
    [1, true],
    [1, true],
    [2, false],
    [1, true],
  ])
  expect(chunks![2]!.data.choices[0]!.delta!.content).toBe(' it goes')
})

test('every choice, where there may be several, and every end is seen', () => {
  const text = (index: number) => encodeEvent({ ...envelope, choices: [{ index, delta: { content: 'a' } }] })
  const several = decoded([text(0), text(1), text(0), text(0), 'data: [DONE]\n\n'], [10_000], { n: 2 }).flat()
  expect(several.map(({ events, seen }) => [events, seen !== undefined])).toEqual(
    Array.from({ length: 4 }, () => [1, true]),
  )
  const ended = [...['a', 'b', 'c'].map((content) => encodeEvent(chunkOf({ content }))), end()]
  expect(decoded(ended, [10_000]).flat().at(-1)!.seen?.choices[0]?.finish_reason).toBe('stop')
})

test('text behind a kind of event that has no template is found alike again', () => {
  const odd = chunkOf({ content: 'x', annotations: [] })
  const thoughts = [...'bcdefghijklm'].map((reasoning) => chunkOf({ reasoning }))
  const data = [chunkOf({ content: 'a' }), ...Array.from({ length: 10 }, () => odd), ...thoughts]
  const [chunks] = decoded([...data.map((one) => encodeEvent(one)), end()], [10_000])
  expect(chunks!.some(({ events }) => events > 4)).toBe(true)
  expect(chunks!.reduce((sum, { events }) => sum + events, 0)).toBe(data.length + 1)
})

function text(content: string): CompletionChunk {
  return chunkOf({ content })
}

function end(): string {
  return encodeEvent(chunkOf({}, 'stop'))
}
