import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Chunk, type CompletionChunk, providerError, type StreamEncoder, Trace } from '#kernel'
import { encodeEvent, eventData } from '#kit'
import { chatWire } from './chat.ts'

const head = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' }
const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }

/** A chunk, and whether it still has the bytes that it came in. */
const made = fc.record({
  raw: fc.boolean(),
  data: fc.oneof(
    fc.record({ content: fc.string({ unit: 'grapheme' }), index: fc.nat({ max: 2 }) }).map(
      ({ content, index }): CompletionChunk => ({
        ...head,
        choices: [{ index, delta: { content }, finish_reason: null }],
      }),
    ),
    fc.constant<CompletionChunk>({
      ...head,
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      usage,
    }),
    fc.constant<CompletionChunk>({ ...head, choices: [], usage }),
  ),
})

const chunksOf = (list: readonly { raw: boolean; data: CompletionChunk }[]): Chunk[] =>
  list.map(({ raw, data }) => (raw ? Chunk.fromBytes(Buffer.from(encodeEvent(data)), data) : Chunk.of(data)))

function encoderOf(include_usage: boolean): StreamEncoder {
  const request = { model: 'm', messages: [], stream_options: { include_usage } }
  return chatWire.encoder('chat', request, { principal, trace: new Trace() })
}

const principal = { type: 'user', keyId: 'key_1', userId: 'usr_1', plan: 'free', tenant: undefined } as const

/** What a client reads of chunks that come in these batches. */
function read(chunks: readonly Chunk[], cuts: readonly number[], includeUsage: boolean): unknown[] {
  const encoder = encoderOf(includeUsage)
  const bounds = [...new Set([0, ...cuts.map((at) => at % (chunks.length + 1)), chunks.length])]
  const sorted = bounds.toSorted((a, b) => a - b)
  const texts = sorted.slice(1).map((end, i) => encoder.chunks(chunks.slice(sorted[i], end)).toString())
  const events = (texts.join('') + encoder.end()).split('\n\n').slice(0, -1)
  expect(events.pop()).toBe('data: [DONE]')
  return events.map((event) => JSON.parse(eventData(Buffer.from(`${event}\n\n`))) as unknown)
}

describe('a stream on OpenAI’s wire', () => {
  const list = fc.array(made, { maxLength: 8 })
  const cuts = fc.array(fc.nat(), { maxLength: 5 })

  test('has every chunk once and in order, however they are batched', () => {
    fc.assert(
      fc.property(list, cuts, (some, at) => {
        const data = some.map((one) => one.data)
        expect(read(chunksOf(some), at, true)).toEqual(data)
      }),
    )
  })

  test('has no chunk for usage alone when that was not asked for', () => {
    fc.assert(
      fc.property(list, cuts, (some, at) => {
        const events = read(chunksOf(some), at, false) as CompletionChunk[]
        const said = some.filter(({ data }) => data.choices.length > 0)
        expect(events.map(({ choices }) => choices)).toEqual(said.map(({ data }) => data.choices))
      }),
    )
  })

  test('that fails ends with the error, and not with what ends an answer', () => {
    const encoder = encoderOf(false)
    const text = encoder.fail(providerError('It broke.'), 'tr_1')
    expect(JSON.parse(eventData(Buffer.from(text)))).toMatchObject({ error: { message: 'It broke.' } })
    expect(text).not.toContain('[DONE]')
  })
})
