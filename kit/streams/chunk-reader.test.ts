import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { Assembler } from '../canonical/assemble.ts'
import type { CompletionChunk } from '../canonical/forms.ts'
import { parseChunk } from '../canonical/parse.ts'
import { ChunkReader } from './chunk-reader.ts'
import { EventSplitter } from './sse.ts'

const word = fc.string({
  unit: fc.constantFrom('a', 'é', '😀', '\ud83d', '"', '\\', '\n', '\t', '\u0001', ' ', '"content":"', '\\"'),
  maxLength: 5,
})
const field = fc.constantFrom('content', 'reasoning_content', 'reasoning', 'refusal', 'annotations')

const delta = fc.oneof(
  { weight: 6, arbitrary: word.map((content) => ({ content })) },
  word.map((reasoning) => ({ reasoning_content: reasoning, content: null })),
  word.map((content) => ({ role: 'assistant', content, refusal: null })),
  fc.dictionary(field, fc.oneof(word, fc.constant(null)), { maxKeys: 2 }),
  word.map((text) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
)

const choice = fc.record(
  {
    index: fc.constantFrom(0, 0, 0, 0, 1),
    delta,
    finish_reason: fc.constantFrom(null, null, null, 'stop'),
    logprobs: fc.constantFrom(null, null, { content: [{ token: 'a' }] }),
    content: word,
  },
  { requiredKeys: ['index'] },
)

const chunk = fc.record(
  {
    id: fc.constant('chatcmpl-1'),
    model: fc.constantFrom('', 'gpt', 'gpt'),
    choices: fc.oneof(
      { weight: 8, arbitrary: fc.array(choice, { minLength: 1, maxLength: 1 }) },
      fc.array(choice, { maxLength: 3 }),
    ),
    usage: fc.constantFrom(null, null, { prompt_tokens: 1, total_tokens: 2 }),
    obfuscation: word,
  },
  { requiredKeys: ['id', 'choices'] },
)

/** Streams in which most events are like the one before. */
const stream = fc
  .array(fc.tuple(chunk, fc.array(word, { maxLength: 4 })), { minLength: 1, maxLength: 6 })
  .map((groups) =>
    groups.flatMap(([first, words]) => [first, ...words.map((content) => withContent(first, content))]),
  )

function withContent(like: object, content: string): object {
  const { choices } = like as CompletionChunk
  return { ...like, choices: choices.map((one) => ({ ...one, delta: { ...one.delta, content } })) }
}

const form = fc.constantFrom<(data: object) => string>(
  (data) => `data: ${JSON.stringify(data)}\n\n`,
  (data) => `data:${JSON.stringify(data)}\r\n\r\n`,
  (data) => `id: 7\ndata: ${JSON.stringify(data).replaceAll('":', '": ')}\n\n`,
)

describe('a reader of chunks', () => {
  test('says of each event what parsing it says', () => {
    fc.assert(
      fc.property(stream, form, (chunks, write) => {
        const reader = new ChunkReader()
        for (const event of chunks.map(write))
          expect(reader.read(Buffer.from(event))).toEqual(parseChunk(Buffer.from(event).toString()))
      }),
      runs(500),
    )
  })

  test('joins events to chunks that make the same answer', () => {
    fc.assert(
      fc.property(stream, form, (chunks, write) => {
        const events = Buffer.from(chunks.map(write).join(''))
        const [joined, apart] = [new Assembler(), new Assembler()]
        for (const data of new ChunkReader().joined(events)) joined.add(data)
        for (const event of chunks.map(write)) apart.add(parseChunk(Buffer.from(event).toString()))
        expect(joined.completion()).toEqual(apart.completion())
      }),
      runs(500),
    )
  })

  test('joins what grows, and nothing else', () => {
    const event = (content: string, padding: string) =>
      `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}],"obfuscation":"${padding}"}\n\n`
    const events = [event('a', 'x'), event('b\n', 'xy'), event('"c', ''), 'data: {"choices":[]}\n\n']
    expect([...new ChunkReader().joined(Buffer.from(events.join('')))]).toMatchObject([
      { choices: [{ delta: { content: 'a' } }] },
      { choices: [{ delta: { content: 'b\n"c' } }] },
      { choices: [] },
    ])
  })

  test('refuses what is not JSON, also where it looks like the event before', () => {
    const reader = new ChunkReader()
    const event = (raw: string) =>
      Buffer.from(`data: {"choices":[{"index":0,"delta":{"content":"${raw}"}}]}\n\n`)
    reader.read(event('a'))
    for (const raw of ['\\x', 'a\tb', 'a"b', '\\u00', '\\']) {
      expect(() => reader.read(event(raw)), raw).toThrow(/not JSON/)
      expect(() => [...reader.joined(event(raw))], raw).toThrow(/not JSON/)
    }
    expect(reader.read(event('b')).choices[0]?.delta?.content).toBe('b')
  })

  test('tries to find what unread events share with the first ones, and then ever more seldom, until it has', () => {
    const event = (delta: string) => Buffer.from(`data: {"choices":[{"index":0,"delta":{${delta}}}]}\n\n`)
    const odd = event('"content":"a","annotations":[]')
    const text = event('"content":"a"')
    const tried = Array.from({ length: 20 }, (_, before) => {
      const reader = new ChunkReader()
      for (let n = 0; n < before; n += 1) expect(reader.unread(odd).reader).toBeUndefined()
      return reader.unread(text).reader ? before + 1 : 0
    })
    expect(tried.filter((nth) => nth > 0)).toEqual([1, 2, 4, 8, 16])

    const reader = new ChunkReader()
    reader.expect(text, parseChunk(text.toString()))
    const splitter = new EventSplitter()
    splitter.add(Buffer.concat([odd, text, text, odd]))
    expect(reader.run(splitter)).toBeUndefined()
    for (let n = 0; n < 5; n += 1) reader.unread(odd)
    splitter.next()
    expect(reader.run(splitter)).toMatchObject({ events: 2 })
    expect(reader.unread(text).reader).toBeDefined()
  })

  test('takes no other field for the text, however it is spelled', () => {
    const reader = new ChunkReader()
    const event = (other: string) =>
      Buffer.from(`data: {"content":"${other}","choices":[{"index":0,"delta":{"\\u0063ontent":"a"}}]}\n\n`)
    reader.read(event('a'))
    expect(reader.read(event('b'))).toEqual({
      content: 'b',
      choices: [{ index: 0, delta: { content: 'a' } }],
    })
  })

  /** Both ways of reading events must say what parsing each says. */
  function expectAsParsed(events: readonly string[]): void {
    const parsed = events.map(parseChunk)
    const [reader, joining] = [new ChunkReader(), new ChunkReader()]
    expect(events.map((event) => reader.read(Buffer.from(event)))).toStrictEqual(parsed)
    const [joined, apart] = [new Assembler(), new Assembler()]
    for (const data of joining.joined(Buffer.from(events.join('')))) joined.add(data)
    for (const data of parsed) apart.add(data)
    expect(joined.completion()).toStrictEqual(apart.completion())
  }

  const eventOf = (data: object): string => `data: ${JSON.stringify(data)}\n\n`
  const like = { id: 'c1', choices: [{ index: 0, delta: { content: 'a' } }], model: 'm1' }

  test.each<[string, object]>([
    ['another id', { ...like, id: 'c2' }],
    ['another choice', { ...like, choices: [{ index: 1, delta: { content: 'a' } }] }],
    ['something else behind', { ...like, model: 'm2' }],
    ['another field', { ...like, choices: [{ index: 0, delta: { reasoning: 'a' } }] }],
    ['less behind', { id: 'c1', choices: like.choices }],
  ])('takes no event with %s for one like the one before', (_, other) => {
    expectAsParsed([like, like, other, like, other, other].map(eventOf))
    const padded = (data: object, padding: string) => ({ ...data, obfuscation: padding })
    expectAsParsed(
      [padded(like, 'x'), padded(like, 'yz'), padded(other, 'x'), padded(other, ''), like].map(eventOf),
    )
    expectAsParsed(
      [padded(like, 'x'), { ...padded(like, 'x'), more: 1 }, { ...padded(like, 'x'), more: 2 }].map(eventOf),
    )
  })

  test.each<[string, object, object]>([
    ['padding', { ...like, obfuscation: 'x' }, { ...like, obfuscation: 'yz\n"' }],
    [
      'padding in a choice',
      { choices: [{ index: 0, delta: { content: 'a' }, obfuscation: 'x' }] },
      { choices: [{ index: 0, delta: { content: 'b' }, obfuscation: 'yz' }] },
    ],
    [
      'a second choice',
      {
        choices: [
          { index: 0, delta: { content: 'a' } },
          { index: 1, delta: {} },
        ],
      },
      {
        choices: [
          { index: 0, delta: { content: 'b' } },
          { index: 1, delta: {} },
        ],
      },
    ],
    [
      'log probabilities',
      {
        choices: [
          { index: 0, delta: { content: 'a' }, logprobs: { content: [{ token: 'a', logprob: -1 }] } },
        ],
      },
      {
        choices: [
          { index: 0, delta: { content: 'a' }, logprobs: { content: [{ token: 'a', logprob: -1 }] } },
        ],
      },
    ],
    [
      'another text that grows',
      { choices: [{ index: 0, delta: { content: 'a', refusal: 'x' } }] },
      { choices: [{ index: 0, delta: { content: 'b', refusal: 'x' } }] },
    ],
    [
      'quotes and backslashes',
      { choices: [{ index: 0, delta: { content: 'a' } }] },
      { choices: [{ index: 0, delta: { content: 'b\\' } }] },
    ],
    [
      'quotes behind backslashes',
      { choices: [{ index: 0, delta: { content: 'a' } }] },
      { choices: [{ index: 0, delta: { content: '\\\\"\\"' } }] },
    ],
  ])('loses nothing of events with %s', (_, first, second) => {
    expectAsParsed([first, second, second, first].map(eventOf))
  })

  test('refuses padding and texts that are no JSON, however little of them there is', () => {
    const event = (text: string, padding: string) =>
      Buffer.from(
        `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}],"obfuscation":"${padding}"}\n\n`,
      )
    const reader = new ChunkReader()
    reader.read(event('a', 'x'))
    for (const raw of ['\t', '\\', '\\x'])
      for (const odd of [event(raw, 'x'), event('a', raw)]) expect(() => reader.read(odd)).toThrow(/not JSON/)
  })
})
