import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { carriesData, type EventForm, EventSplitter, encodeEvent, eventData, isDone } from './sse.ts'

/** The events that a splitter gives for these bytes in these pieces, its rest included. */
function split(pieces: readonly Buffer[]): string[] {
  const splitter = new EventSplitter()
  const events = pieces.flatMap((piece) => splitter.push(piece))
  const rest = splitter.end()
  return [...events, ...(rest ? [rest] : [])].map((event) => event.toString())
}

function cutBytes(bytes: Buffer, places: readonly number[]): Buffer[] {
  const bounds = [0, ...[...places].sort((a, b) => a - b), bytes.length]
  return bounds.slice(1).map((end, i) => bytes.subarray(bounds[i], end))
}

const lineEnd = fc.constantFrom('\n', '\r\n')
const line = fc.oneof(
  fc
    .string({ unit: fc.constantFrom('a', 'é', '😀', ' ', ':', '{'), maxLength: 12 })
    .map((text) => `data: ${text}`),
  fc.constantFrom(': comment', 'event: ping', 'id: 7', 'retry: 10', 'data:{"a":1}', 'data', 'data: [DONE]'),
)
const event = fc.tuple(fc.array(line, { minLength: 1, maxLength: 4 }), lineEnd).map(([lines, end]) => ({
  lines,
  text: lines.map((text) => text + end).join('') + end,
}))

describe('the splitter', () => {
  test('gives every event with its bytes, at any way of cutting the stream', () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 6 }),
        fc.array(fc.nat({ max: 400 }), { maxLength: 20 }),
        (events, at) => {
          const bytes = Buffer.from(events.map(({ text }) => text).join(''))
          const pieces = cutBytes(
            bytes,
            at.map((place) => Math.min(place, bytes.length)),
          )
          expect(split(pieces)).toEqual(events.map(({ text }) => text))
        },
      ),
      runs(1000),
    )
  })

  test('gives events of one form together and others one by one, all of their bytes, at any way of cutting', () => {
    const form: EventForm = {
      endOf(events, at) {
        const [run] = /^data: a*\n\n/.exec(events.slice(at)) ?? []
        return run === undefined ? -1 : at + run.length
      },
    }
    const text = fc.constantFrom('data: aa\n\n', 'data: aé\n\n', 'data: a\n\n', ': a\n\n', 'data: a\r\n\r\n')
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 12 }),
        fc.array(fc.nat({ max: 120 }), { maxLength: 8 }),
        (texts, at) => {
          const bytes = Buffer.from(texts.join(''))
          const splitter = new EventSplitter()
          const given: string[] = []
          let together = 0
          for (const piece of cutBytes(
            bytes,
            at.map((place) => Math.min(place, bytes.length)),
          )) {
            splitter.add(Buffer.from(piece))
            for (let went = true; went; ) {
              const run = splitter.run(form)
              if (run) {
                const events = run.bytes.toString().match(/.*\n\n/g)!
                expect(events).toHaveLength(run.events)
                given.push(...events)
                together += run.events
              }
              const event = splitter.next()
              if (event) given.push(event.toString())
              went = event !== undefined
            }
          }
          expect(given).toEqual(texts)
          expect(together).toBe(texts.filter((one) => form.endOf(one, 0) !== -1).length)
        },
      ),
      runs(500),
    )
  })

  test('looks for no run in the middle of a long event, however it grows', () => {
    const splitter = new EventSplitter()
    let looks = 0
    const form: EventForm = {
      endOf() {
        looks += 1
        return -1
      },
    }
    for (let i = 0; i < 100; i += 1) {
      splitter.add(Buffer.alloc(1024, 'x'))
      expect(splitter.run(form)).toBeUndefined()
      expect(splitter.next()).toBeUndefined()
    }
    expect(looks).toBeLessThan(10)
    splitter.add(Buffer.from('\n\n'))
    expect(splitter.next()).toHaveLength(100 * 1024 + 2)
  })

  test('gives no run behind an event that was refused', () => {
    const splitter = new EventSplitter()
    splitter.add(Buffer.from(`data: ${'['.repeat(2_000)}\n\ndata: a\n\n`))
    expect(() => splitter.next()).toThrow('nested too deeply')
    expect(splitter.run({ endOf: (events) => events.length })).toBeUndefined()
    expect(() => splitter.next()).toThrow('nested too deeply')
  })

  test('gives the same byte by byte', () => {
    const text =
      ': hi\r\n\r\ndata: {"x":"é😀"}\n\nevent: done\r\ndata: [DONE]\r\n\r\ndata: a\r\n\ndata: b\n\r\nrest'
    const bytes = Buffer.from(text)
    expect(split(Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual([
      ': hi\r\n\r\n',
      'data: {"x":"é😀"}\n\n',
      'event: done\r\ndata: [DONE]\r\n\r\n',
      'data: a\r\n\n',
      'data: b\n\r\n',
      'rest',
    ])
  })

  test('hands out bytes that later pieces do not write over', () => {
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 2, maxLength: 8 }),
        fc.integer({ min: 1, max: 9 }),
        (events, size) => {
          const bytes = Buffer.from(events.map(({ text }) => text).join(''))
          const places = Array.from({ length: Math.floor(bytes.length / size) }, (_, i) => (i + 1) * size)
          const splitter = new EventSplitter()
          const given = cutBytes(bytes, places).flatMap((piece) => splitter.push(Buffer.from(piece)))
          expect(given.map(String)).toEqual(events.map(({ text }) => text))
        },
      ),
    )
  })

  test('takes an event of many megabytes in small pieces in the time its length takes', () => {
    const piece = Buffer.alloc(1024, 'x')
    const splitter = new EventSplitter()
    const started = performance.now()
    for (let i = 0; i < 12 * 1024; i += 1) expect(splitter.push(piece)).toEqual([])
    const [whole] = splitter.push(Buffer.from('\n\n'))
    expect(whole?.length).toBe(12 * 1024 * 1024 + 2)
    expect(performance.now() - started).toBeLessThan(20_000)
  })

  test('refuses an event over its limit, and counts events one by one', () => {
    const splitter = new EventSplitter(10)
    expect(splitter.push(Buffer.from('data: a\n\ndata: b\n\ndata: c\n\n'))).toHaveLength(3)
    expect(() => splitter.push(Buffer.from('data: 12345'))).toThrow(RangeError)
  })

  test('takes an event of just its limit, and refuses one byte more of it', () => {
    const splitter = new EventSplitter(10)
    expect(splitter.push(Buffer.from('data: a\n\ndata: 1234'))).toHaveLength(1)
    expect(splitter.push(Buffer.alloc(0))).toEqual([])
    expect(() => splitter.push(Buffer.from('5'))).toThrow(RangeError)
    expect(new EventSplitter(10).push(Buffer.from('data: 1234'))).toEqual([])
    expect(() => new EventSplitter(10).push(Buffer.from('data: 12345'))).toThrow(RangeError)
  })

  test.each(['data: a\nx\ndata: b\n\n', 'data: a\n\rx\n\n', 'data: a\nx\r\n\r\n'])(
    'takes no line of a letter, and no carriage return alone, for a blank line: %j',
    (text) => {
      expect(split([Buffer.from(text)])).toEqual([text])
      expect(split(Array.from(Buffer.from(text), (byte) => Buffer.of(byte)))).toEqual([text])
    },
  )

  test('gives the events before one that is over its limit first', () => {
    for (const next of ['more', '\n\n', undefined]) {
      const splitter = new EventSplitter(10)
      expect(splitter.push(Buffer.from('data: a\n\ndata: 12345')).map(String)).toEqual(['data: a\n\n'])
      expect(() => (next === undefined ? splitter.end() : splitter.push(Buffer.from(next)))).toThrow(
        RangeError,
      )
    }
  })
})

test.each([
  ['data: [DONE]\n\n', true],
  ['data:[DONE]\r\n\r\n', true],
  ['data:  [DONE] \n\n', true],
  ['data: [DONE]', true],
  ['id: 1\ndata: [DONE]\n\n', true],
  ['data: {"text":"[DONE]"}\n\n', false],
  ['data:{"text":"[DONE]"}\n\n', false],
  ['data: "[DONE]"\n\n', false],
  ['data: [DONE]x\n\n', false],
  ['data: x\ndata: [DONE]\n\n', false],
  ['event: [DONE]\n\n', false],
  [': [DONE]\n\n', false],
  ['datum: [DONE]\n\n', false],
])('%j is the end of a stream: %s', (event, isEnd) => {
  expect(isDone(Buffer.from(event))).toBe(isEnd)
})

test.each([
  ['data: a\n\n', 'a', true],
  ['data: a\n', 'a', true],
  ['data: a\nid: 3\n\n', 'a', true],
  ['data: a\ndata: b\n\n', 'a\nb', true],
  ['data: a\rdata: b\r\r', 'a\nb', true],
  ['data:a\n\n', 'a', true],
  ['id: 3\ndata: a\n\n', 'a', true],
  ['date: a\n\n', '', false],
  ['id: data: a\n\n', '', false],
])('%j says %j', (event, data, carries) => {
  expect(eventData(Buffer.from(event))).toBe(data)
  expect(carriesData(Buffer.from(event))).toBe(carries)
})

test('an event is written with its name where it has one', () => {
  expect(encodeEvent({ a: 1 })).toBe('data: {"a":1}\n\n')
  expect(encodeEvent({ a: 1 }, 'ping')).toBe('event: ping\ndata: {"a":1}\n\n')
})

describe('an event', () => {
  test('has the data of all its data lines, without one leading space', () => {
    expect(eventData(Buffer.from('data: {"a":\r\ndata:1}\r\nid: 3\r\n\r\n'))).toBe('{"a":\n1}')
    expect(eventData(Buffer.from('data:  two\n\n'))).toBe(' two')
    expect(eventData(Buffer.from('data: no end'))).toBe('no end')
    expect(eventData(Buffer.from(': comment\n\n'))).toBe('')
  })

  test('gives the events before one that is nested too deeply, and refuses that one', () => {
    const splitter = new EventSplitter()
    const deep = `data: ${'['.repeat(2_000)}\n\n`
    const events = splitter.push(Buffer.from(`data: 1\n\n${deep}data: 3\n\n`))
    expect(events.map(String)).toEqual(['data: 1\n\n'])
    expect(() => splitter.push(Buffer.from('data: 4\n\n'))).toThrow('nested too deeply')
    expect(() => splitter.end()).toThrow('nested too deeply')
    expect(() => split([Buffer.from(deep.trim())])).toThrow('nested too deeply')
  })

  test('is the end mark only if that is all of its data', () => {
    const done = [
      'data: [DONE]\n\n',
      'data:[DONE]\r\n\r\n',
      'id: 0123456789012345678901234\ndata: [DONE]\n\n',
    ]
    expect(done.map((text) => isDone(Buffer.from(text)))).toEqual([true, true, true])
    const not = ['data: {"a":"[DONE]"}\n\n', ': [DONE]\n\n', 'data: done\n\n']
    expect(not.map((text) => isDone(Buffer.from(text)))).toEqual([false, false, false])
  })

  test('carries data behind comments and names, and not without a data line', () => {
    expect(carriesData(Buffer.from('event: x\ndata: 1\n\n'))).toBe(true)
    expect(carriesData(Buffer.from(': data:\n\n'))).toBe(false)
  })

  test('comes back as it was encoded', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.option(fc.constant('delta'), { nil: undefined }), (value, name) => {
        const [event] = new EventSplitter().push(Buffer.from(encodeEvent(value, name)))
        expect(JSON.stringify(JSON.parse(eventData(event!)))).toBe(JSON.stringify(value))
      }),
    )
  })
})
