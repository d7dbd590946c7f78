import { expect, test } from 'vitest'
import { Chunk } from '../../kit/canonical/chunk.ts'
import { type Reply, StreamReply, WholeReply } from '../call/reply.ts'
import { KeptReply } from './kept-reply.ts'

const chunkOf = (content: string): Chunk => Chunk.of({ choices: [{ index: 0, delta: { content } }] })
const chunks = ['a', 'b', 'c'].map(chunkOf)

/** A stream of one chunk a batch, and what became of it. */
function source(returns = true) {
  const state = { begun: 0, read: 0, left: 0 }
  const reply = new StreamReply('chat', {
    [Symbol.asyncIterator]() {
      state.begun += 1
      return {
        async next() {
          const chunk = chunks[state.read]
          state.read += 1
          return chunk ? { done: false, value: [chunk] } : { done: true, value: undefined }
        },
        ...(returns && {
          async return() {
            state.left += 1
            return { done: true as const, value: undefined }
          },
        }),
      }
    },
  })
  return { state, kept: new KeptReply(reply) }
}

const readerOf = (reply: Reply) => (reply as StreamReply).chunks[Symbol.asyncIterator]()
const next = async (reader: AsyncIterator<readonly Chunk[]>) => (await reader.next()).value?.[0]

test('what one reader has read another gets again, with what comes behind', async () => {
  const { kept, state } = source()
  const first = readerOf(kept.reply)
  expect([await next(first), await next(first)]).toEqual(chunks.slice(0, 2))
  await first.return?.()
  expect(state.left).toBe(0)
  const second = readerOf(kept.again())
  for (const chunk of [...chunks, undefined]) expect(await next(second)).toBe(chunk)
  await second.return?.()
  expect(state).toEqual({ begun: 1, read: 4, left: 1 })
})

test('an answer that is released is read on by its reader, and what comes is not kept', async () => {
  const { kept, state } = source()
  const reader = readerOf(kept.reply)
  expect(await next(reader)).toBe(chunks[0])
  kept.release()
  expect(state.left).toBe(0)
  expect(await next(reader)).toBe(chunks[1])
  expect(await next(readerOf(kept.again()))).toBe(chunks[2])
  await reader.return?.()
  expect(state).toEqual({ begun: 1, read: 3, left: 1 })
})

test('an answer that its reader has left is left when it is released', async () => {
  const { kept, state } = source()
  const reader = readerOf(kept.reply)
  await next(reader)
  await reader.return?.()
  expect(state.left).toBe(0)
  kept.release()
  expect(state.left).toBe(1)
})

test('an answer that was released before is read as it is, and one that was not read is given as it is', async () => {
  const { kept, state } = source()
  const original = kept.again()
  kept.release()
  const reader = readerOf(kept.reply)
  expect(await next(reader)).toBe(chunks[0])
  await reader.return?.()
  expect(state).toEqual({ begun: 1, read: 1, left: 1 })
  expect(kept.again()).toBe(original)
  const whole = WholeReply.of({ choices: [] })
  expect([new KeptReply(whole).reply, new KeptReply(whole).again()]).toEqual([whole, whole])
})

test('a stream that knows nothing of leaving can be left', async () => {
  const { kept } = source(false)
  const reader = readerOf(kept.reply)
  await next(reader)
  expect(await readerOf(kept.again()).return?.()).toEqual({ done: true, value: undefined })
  kept.release()
  expect(await reader.return?.()).toEqual({ done: true, value: undefined })
})
