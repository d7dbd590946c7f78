import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Chunk, type CompletionChunk } from '#kernel'
import { Assembler, EventSplitter, encodeEvent, joinChunks } from '#kit'
import { runs } from '../../test/suite/runs.ts'
import { KeptStream } from './kept-stream.ts'

const content = fc.string({ unit: fc.constantFrom('a', 'é', '"', '\n'), maxLength: 3 })
const data = fc.oneof(
  { weight: 4, arbitrary: content.map((text) => choiceOf({ content: text })) },
  content.map((text) => choiceOf({ reasoning_content: text })),
  fc.constant<CompletionChunk>({ id: 'a', choices: [], usage: { prompt_tokens: 1, total_tokens: 2 } }),
)

const choiceOf = (delta: Record<string, string>): CompletionChunk => ({
  id: 'a',
  choices: [{ index: 0, delta, finish_reason: null }],
})

test('the answer is the same whichever chunks were parsed, changed or asked about before', () => {
  const kind = fc.constantFrom('unread', 'unread', 'read', 'made')
  fc.assert(
    fc.property(fc.array(fc.tuple(data, kind, fc.boolean()), { maxLength: 12 }), (chunks) => {
      const events = new EventSplitter().push(Buffer.from(chunks.map(([one]) => encodeEvent(one)).join('')))
      const kept = new KeptStream()
      const whole = new Assembler()
      for (const [i, [one, how, asked]] of chunks.entries()) {
        const parsed = how === 'read' ? one : undefined
        kept.add(how === 'made' ? Chunk.of(one) : Chunk.fromBytes(events[i]!, parsed))
        whole.add(one)
        if (asked) expect(kept.completion()).toEqual(whole.completion())
      }
      expect(kept.completion()).toEqual(chunks.length === 0 ? undefined : whole.completion())
    }),
    runs(300),
  )
})

test('events that cannot be read are left out, alone and among others that came with them', () => {
  const kept = new KeptStream()
  const broken = Buffer.from('data: {oops\n\n')
  kept.add(Chunk.fromBytes(broken))
  expect(kept.completion()).toBeUndefined()
  kept.add(Chunk.fromBytes(Buffer.from(encodeEvent(choiceOf({ content: 'a' })))))
  kept.add(Chunk.fromBytes(broken))
  const together = [encodeEvent(choiceOf({ content: 'b' })), broken, encodeEvent(choiceOf({ content: 'c' }))]
  kept.add(Chunk.unread(Buffer.concat(together.map((event) => Buffer.from(event))), apart, 3))
  expect(kept.completion()?.choices).toMatchObject([{ message: { content: 'abc' } }])
  expect(kept.completion()?.choices).toMatchObject([{ message: { content: 'abc' } }])
})

test('of a long stream only the last events wait to be read until its end', () => {
  let read = 0
  const counting: typeof apart = {
    read: (events) => {
      const all = new EventSplitter().push(events)
      read += all.length
      return joinChunks(all.map((event) => Chunk.fromBytes(event).data))
    },
  }
  const kept = new KeptStream()
  const event = Buffer.from(encodeEvent(choiceOf({ content: 'a' })))
  for (let i = 0; i < 5000; i += 1) kept.add(Chunk.unread(event, counting))
  expect(read).toBeGreaterThanOrEqual(4000)
  expect(kept.completion()?.choices).toMatchObject([{ message: { content: 'a'.repeat(5000) } }])
  expect(read).toBe(5000)
})

/** Reads events one by one only. */
const apart: Parameters<typeof Chunk.unread>[1] = {
  read: (events) => Chunk.fromBytes(events).data,
  split: (events) => new EventSplitter().push(events),
}
