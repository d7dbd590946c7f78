import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { EventTemplate } from './event-template.ts'

const event = (content: string, padding?: string): string => {
  const tail = padding === undefined ? '' : `,"obfuscation":${JSON.stringify(padding)}`
  return `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}]${tail}}\n\n`
}
const templateOf = (text: string): EventTemplate => EventTemplate.of(text)!

const word = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '"', '\\', '\n', ' ', '\\"'), maxLength: 5 })

describe('a template', () => {
  test('reads neighbours as one event with all of their texts, and gives them back one by one', () => {
    const padding = fc.option(word, { nil: undefined })
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), padding, (words, pad) => {
        const template = templateOf(event('x', pad))
        const events = words.map((text) => Buffer.from(event(text, pad)))
        const all = Buffer.concat(events)
        expect(template.read(all)).toEqual({
          choices: [{ index: 0, delta: { content: words.join('') } }],
          ...(pad !== undefined && { obfuscation: pad.repeat(words.length) }),
        })
        expect(template.split(all)).toEqual(events)
      }),
      runs(300),
    )
  })

  test('reads the same for all who have it', () => {
    expect(() => Object.assign(templateOf(event('a')), { read: () => ({}) })).toThrow(TypeError)
  })

  test('finds the end of an event only where all of it is there', () => {
    for (const [first, next] of [
      [event('a'), event('b "c" \\')],
      [event('a', 'x'), event('b "c" \\', '"')],
    ] as const) {
      const template = templateOf(first)
      expect(template.endOf(`${first}${next}`, first.length)).toBe(first.length + next.length)
      for (let cut = 0; cut < next.length; cut += 1) expect(template.endOf(next.slice(0, cut), 0)).toBe(-1)
    }
  })

  test('takes no event for one like it that a line feed in a text would cut in two', () => {
    for (const pad of [undefined, 'x']) {
      const template = templateOf(event('a', pad))
      expect(template.endOf(event('b', pad).replace('"b"', '"b\n\ndata: [DONE]"'), 0)).toBe(-1)
    }
    const padded = templateOf(event('a', 'x'))
    expect(padded.endOf(event('b', 'yy').replace('"yy"', '"y\n\ny"'), 0)).toBe(-1)
  })

  test.each([
    ['is no JSON', 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]\n\n'],
    ['adds no text', event('')],
    ['is not ASCII but for its text', event('a').replace('{"choices"', '{"model":"é","choices"')],
    ['ends its choice', event('a').replace('"delta"', '"finish_reason":"stop","delta"')],
    ['reports usage', event('a').replace('{"choices"', '{"usage":{"total_tokens":1},"choices"')],
    ['has two choices', event('a').replace('}]}', '},{"index":1,"delta":{"content":"b"}}]}')],
    ['is very long', event('a'.repeat(40_000))],
    ['calls a tool', event('a').replace('"delta":{', '"delta":{"tool_calls":[{"index":0}],')],
  ])('is made of no event that %s', (_, text) => {
    expect(EventTemplate.of(text)).toBeUndefined()
  })
})
