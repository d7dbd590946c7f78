import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chatCall } from './call-form.ts'
import { EventCount } from './event-count.ts'
import { STREAM_EVENTS } from './request.ts'

const numbers = Array.from({ length: STREAM_EVENTS }, (_, n) => n)

function streamOf(order: readonly number[], ends = 1): Buffer {
  const events = order.map((n) => `data: {"delta":{"content":"w${String(n).padStart(3, '0')} "}}\n\n`)
  const frames = ['data: {"delta":{"role":"assistant","content":""}}\n\n', ...events]
  return Buffer.from(frames.join('') + 'data: [DONE]\n\n'.repeat(ends))
}

function complete(bytes: Buffer): boolean {
  const count = new EventCount(chatCall())
  count.push(bytes)
  return count.complete
}

test('a whole stream is complete however it is cut', () => {
  const bytes = streamOf(numbers)
  fc.assert(
    fc.property(fc.array(fc.nat({ max: bytes.length })), (cuts) => {
      const bounds = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      const count = new EventCount(chatCall())
      for (const [index, end] of bounds.slice(1).entries()) count.push(bytes.subarray(bounds[index], end))
      expect(count.complete).toBe(true)
      expect(count.events).toBe(STREAM_EVENTS)
    }),
  )
})

test.each([
  ['a missing event', streamOf(numbers.filter((n) => n !== 50))],
  ['an event twice', streamOf([...numbers.slice(0, 51), ...numbers.slice(50)])],
  ['two events exchanged', streamOf([1, 0, ...numbers.slice(2)])],
  ['no end', streamOf(numbers, 0)],
  ['two ends', streamOf(numbers, 2)],
  ['nothing', Buffer.alloc(0)],
])('a stream with %s is not complete', (_, bytes) => {
  expect(complete(bytes)).toBe(false)
})
