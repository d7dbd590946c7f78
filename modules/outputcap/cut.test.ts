import { expect, test } from 'vitest'
import { Chunk, type CompletionChunk } from '#kernel'
import { Cut } from './cut.ts'

type Choice = CompletionChunk['choices'][number]

/** What leaves of these choices, a chunk each, where so many characters may: (tokens + 16) * 6. */
function kept(tokens: number, ...choices: readonly Omit<Choice, 'index'>[]): unknown[] {
  const left: unknown[] = []
  const cut = new Cut(tokens, 1)
  let isOver = false
  const out = {
    emit: ({ data }: Chunk) => left.push(data.choices[0]),
    finish: () => {
      isOver = true
    },
    fail: (error: Error) => {
      throw error
    },
  }
  for (const choice of choices) if (!isOver) cut.push(Chunk.of({ choices: [{ index: 0, ...choice }] }), out)
  return [...left, isOver]
}

const most = 'x'.repeat(102)

test.each<[string, Omit<Choice, 'index'>, object]>([
  ['a text', { text: `${most}yz` }, { text: most }],
  ['what it says', { delta: { content: `${most}yz` } }, { delta: { content: most } }],
  [
    'no half of a character',
    { delta: { content: `${most.slice(1)}😀` } },
    { delta: { content: most.slice(1) } },
  ],
  [
    'what it thinks, and then says',
    { delta: { content: most.slice(2), reasoning_content: 'yyyy', reasoning_details: [{ text: 'yyyy' }] } },
    { delta: { content: most.slice(2), reasoning_content: 'yy' } },
  ],
  [
    'its calls',
    {
      delta: {
        tool_calls: [
          { index: 0, id: 'a' },
          { index: 1, function: { name: 'f', arguments: `${most}yz` } },
        ],
      },
    },
    {
      delta: {
        tool_calls: [
          { index: 0, id: 'a' },
          { index: 1, function: { name: 'f', arguments: most } },
        ],
      },
    },
  ],
  [
    'the log probabilities',
    { delta: { content: `${most}y` }, logprobs: { content: [] } },
    { delta: { content: most } },
  ],
])('%s: cut where it goes beyond the limit', (_, choice, cut) => {
  expect(kept(1, choice)).toEqual([{ index: 0, ...cut }, true])
})

test('nothing more is said of a choice that goes on behind an end beyond the limit', () => {
  const end = { delta: { content: `${most}y` }, finish_reason: 'stop' }
  expect(kept(1, end, { delta: { content: 'yz' } })).toEqual([
    { index: 0, ...end },
    { index: 0, delta: { content: '' } },
    true,
  ])
})

test('a text that began with half of a character in a chunk before keeps its end', () => {
  const half = { delta: { content: most.slice(3), reasoning_content: '\ude00' } }
  expect(kept(1, half, { delta: { content: 'yyy' } })).toEqual([
    { index: 0, ...half },
    { index: 0, delta: { content: 'yy' } },
    true,
  ])
  const both = { delta: { content: '\ude00y', reasoning_content: most } }
  expect(kept(1, both)).toEqual([
    { index: 0, delta: { content: '\ude00y', reasoning_content: most.slice(2) } },
    true,
  ])
})

test('what fits, and what ends its choice, stays as it is', () => {
  const whole = { delta: { content: most } }
  const end = { delta: { content: 'y' }, finish_reason: 'stop' }
  expect(kept(1, whole, end)).toEqual([{ index: 0, ...whole }, { index: 0, ...end }, false])
})
