import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Assembler } from '#kit'
import { translation } from '../../test/translation.ts'
import manifest from './manifest.json' with { type: 'json' }
import { geminiProtocol } from './protocol.ts'

const gemini = manifest as Parameters<typeof translation>[0]
const head = { modelVersion: 'gemini-3-pro-preview', responseId: 'r1' }

/** A stream in which everything is in one event that may be, and with characters of several bytes. */
const events = [
  { candidates: [{ content: { parts: [{ text: 'Grüße ', thought: true }], role: 'model' }, index: 0 }] },
  {
    candidates: [
      {
        content: {
          parts: [
            { text: 'an 👩‍👩‍👧', thought: true },
            { text: 'Ich schaue 🌦 nach.\n\ndata: nein' },
            { functionCall: { name: 'weather', args: { city: 'Zürich' } }, thoughtSignature: 'c2ln+/==' },
          ],
        },
        index: 0,
      },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
  },
  {
    candidates: [
      {
        content: {
          parts: [{ functionCall: { id: 'n2', name: 'time' } }, { text: '', thoughtSignature: 'ZW5k' }],
        },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: 10,
      candidatesTokenCount: 7,
      thoughtsTokenCount: 5,
      totalTokenCount: 22,
    },
  },
]

const recorded = (eol: string) =>
  Buffer.from(events.map((event) => `data: ${JSON.stringify({ ...event, ...head })}${eol}${eol}`).join(''))

/** What comes out of a stream that arrives in these pieces. */
function read(pieces: readonly Buffer[]) {
  const { call, target } = translation(gemini, { model: 'gemini-3-pro-preview', stream: true })
  const decoder = geminiProtocol.decoder({ status: 200, headers: {} }, call, target)
  const chunks = [...pieces.flatMap((piece) => [...decoder.push(piece)]), ...decoder.end()]
  return chunks.map(({ data: { created: _, ...data } }) => data)
}

function cut(bytes: Buffer, offsets: readonly number[]): Buffer[] {
  const bounds = [0, ...[...new Set(offsets)].toSorted((a, b) => a - b), bytes.length]
  return bounds.slice(1).map((end, i) => bytes.subarray(bounds[i], end))
}

describe.each([
  ['LF', '\n'],
  ['CR LF', '\r\n'],
])('with lines that end with %s', (_, eol) => {
  const bytes = recorded(eol)
  const whole = read([bytes])

  it('is the same for every place where it may be cut once', () => {
    for (let at = 1; at < bytes.length; at += 1) expect(read(cut(bytes, [at]))).toEqual(whole)
  })

  it('is the same when it comes byte by byte', () => {
    expect(read(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(whole)
  })

  it('is the same however it is cut', () => {
    const offsets = fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 40 })
    fc.assert(fc.property(offsets, (at) => void expect(read(cut(bytes, at))).toEqual(whole)))
  })

  it('never ends well when its last event is missing, wherever it breaks', () => {
    const last = bytes.lastIndexOf('data:', bytes.indexOf('"finishReason"'))
    for (let at = 0; at < last; at += 7) {
      const partial = bytes.subarray(0, at)
      expect(() => read([partial])).toThrow(/middle of the answer|not a JSON object/)
    }
  })
})

it('is the whole answer when it is put together', () => {
  const assembler = new Assembler()
  for (const chunk of read([recorded('\n')])) assembler.add(chunk)
  const { choices, usage } = assembler.completion()
  expect(choices).toEqual([
    {
      index: 0,
      finish_reason: 'tool_calls',
      native_finish_reason: 'STOP',
      message: {
        role: 'assistant',
        reasoning_content: 'Grüße an 👩‍👩‍👧',
        content: 'Ich schaue 🌦 nach.\n\ndata: nein',
        extra_content: { google: { thought_signature: 'ZW5k' } },
        tool_calls: [
          {
            id: expect.stringMatching(/^call_[0-9a-f]{24}--ts--/),
            type: 'function',
            function: { name: 'weather', arguments: '{"city":"Zürich"}' },
            extra_content: { google: { thought_signature: 'c2ln+/==' } },
          },
          { id: 'n2', type: 'function', function: { name: 'time', arguments: '{}' } },
        ],
      },
    },
  ])
  expect(usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 12, total_tokens: 22 })
})

it('numbers calls on from event to event, and reports usage once', () => {
  const chunks = read([recorded('\n')])
  const indexes = chunks.flatMap(
    ({ choices }) => choices[0]?.delta?.tool_calls?.map(({ index }) => index) ?? [],
  )
  expect(indexes).toEqual([0, 1])
  expect(chunks.filter(({ usage }) => usage)).toEqual([expect.objectContaining({ choices: [] })])
})

it('ends when each of its candidates has ended, and no sooner', () => {
  const said = (index: number, finishReason?: string) => ({
    ...head,
    candidates: [{ index, content: { parts: [{ text: `${index}` }] }, finishReason }],
  })
  const stream = (...parts: readonly object[]): Buffer =>
    Buffer.from(parts.map((part) => `data: ${JSON.stringify(part)}\n\n`).join(''))
  const [one, other] = [said(0, 'STOP'), said(1)]
  for (const parts of [
    [one, other],
    [other, one],
  ]) {
    expect(() => read([stream(...parts)])).toThrow('middle of the answer')
    expect(read([stream(...parts, said(1, 'STOP'))])).toHaveLength(5)
  }
})
