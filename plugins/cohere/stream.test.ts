import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Assembler } from '#kit'
import { translation } from '../../test/translation.ts'
import manifest from './manifest.json' with { type: 'json' }
import { cohereProtocol } from './protocol.ts'

const cohere = manifest as Parameters<typeof translation>[0]

const delta = (message: object) => ({ delta: { message } })
const citation = {
  start: 0,
  end: 4,
  text: 'Grüß',
  sources: [{ type: 'document', id: 'd' }],
  type: 'TEXT_CONTENT',
}

const events = [
  {
    id: 'id1',
    type: 'message-start',
    ...delta({ role: 'assistant', content: [], tool_plan: '', tool_calls: [] }),
  },
  { type: 'content-start', index: 0, ...delta({ content: { type: 'thinking', thinking: '' } }) },
  { type: 'content-delta', index: 0, ...delta({ content: { thinking: 'Hm 🤔. ' } }) },
  { type: 'content-end', index: 0 },
  { type: 'tool-plan-delta', ...delta({ tool_plan: 'Ich ' }) },
  { type: 'tool-plan-delta', ...delta({ tool_plan: 'suche.' }) },
  { type: 'content-start', index: 1, ...delta({ content: { type: 'text', text: '' } }) },
  { type: 'content-delta', index: 1, ...delta({ content: { text: 'Grüß ' } }) },
  { type: 'content-delta', index: 1, ...delta({ content: { text: 'dich\n\ndata: 👋' } }) },
  { type: 'citation-start', index: 0, ...delta({ citations: citation }) },
  { type: 'citation-end', index: 0 },
  { type: 'citation-start', index: 1, ...delta({ citations: { ...citation, start: 5 } }) },
  { type: 'content-end', index: 1 },
  {
    type: 'tool-call-start',
    index: 3,
    ...delta({ tool_calls: { id: 'a1', type: 'function', function: { name: 'f', arguments: '' } } }),
  },
  { type: 'tool-call-delta', index: 3, ...delta({ tool_calls: { function: { arguments: '{"a":' } } }) },
  { type: 'tool-call-delta', index: 3, ...delta({ tool_calls: { function: { arguments: '"ü"}' } } }) },
  { type: 'tool-call-end', index: 3 },
  {
    type: 'tool-call-start',
    index: 4,
    ...delta({ tool_calls: { id: 'b2', type: 'function', function: { name: 'g', arguments: '{}' } } }),
  },
  {
    type: 'message-end',
    delta: {
      finish_reason: 'TOOL_CALL',
      usage: {
        billed_units: { input_tokens: 1, output_tokens: 2 },
        tokens: { input_tokens: 3, output_tokens: 4 },
      },
    },
  },
]

const bytes = Buffer.from(
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
)

/** What comes out of a stream that arrives in these pieces. */
function read(pieces: readonly Buffer[]) {
  const { call, target } = translation(cohere, { model: 'command-a-03-2025', stream: true })
  const decoder = cohereProtocol.decoder({ status: 200, headers: {} }, call, target)
  const chunks = [...pieces.flatMap((piece) => [...decoder.push(piece)]), ...decoder.end()]
  return chunks.map(({ data: { created: _, ...data } }) => data)
}

function cut(offsets: readonly number[]): Buffer[] {
  const bounds = [0, ...[...new Set(offsets)].toSorted((a, b) => a - b), bytes.length]
  return bounds.slice(1).map((end, i) => bytes.subarray(bounds[i], end))
}

const whole = read([bytes])

it('is the same for every place where it may be cut once, and byte by byte', () => {
  for (let at = 1; at < bytes.length; at += 1) expect(read(cut([at]))).toEqual(whole)
  expect(read(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(whole)
})

it('is the same however it is cut', () => {
  const offsets = fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 40 })
  fc.assert(fc.property(offsets, (at) => void expect(read(cut(at))).toEqual(whole)))
})

it('never ends well without its end, wherever it breaks', () => {
  for (let at = 0; at < bytes.lastIndexOf('event:'); at += 7) {
    expect(() => read([bytes.subarray(0, at)])).toThrow(/middle of the answer|not a JSON object/)
  }
})

it('is the whole answer when it is put together', () => {
  const assembler = new Assembler()
  for (const chunk of whole) assembler.add(chunk)
  expect(assembler.completion()).toMatchObject({
    id: 'chatcmpl-id1',
    choices: [
      {
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: 'Grüß dich\n\ndata: 👋',
          reasoning_content: 'Hm 🤔. Ich suche.',
          citations: [citation, { ...citation, start: 5 }],
          tool_calls: [
            { id: 'a1', function: { name: 'f', arguments: '{"a":"ü"}' } },
            { id: 'b2', function: { name: 'g', arguments: '{}' } },
          ],
        },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2, tokens: { input_tokens: 3, output_tokens: 4 } },
  })
})
