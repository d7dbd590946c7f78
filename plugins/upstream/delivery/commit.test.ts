import { expect, test } from 'vitest'
import { Chunk, type Delta } from '#kernel'
import { committed } from './commit.ts'

const chunk = (delta: Delta): Chunk => Chunk.of({ choices: [{ index: 0, delta, finish_reason: null }] })
const unreadable = (cause: unknown): Error => new Error('nobody can read it', { cause })

/** A source that knows how far it was read, and whether it was closed. */
function source(...batches: Chunk[][]) {
  const state = { read: 0, closed: false }
  async function* run(): AsyncGenerator<readonly Chunk[]> {
    try {
      for (const batch of batches) {
        state.read += 1
        yield batch
      }
    } finally {
      state.closed = true
    }
  }
  return { state, chunks: run() }
}

test('a stream is read up to its first content, and given back whole', async () => {
  const batches = [
    [chunk({ role: 'assistant' })],
    [chunk({ content: 'a' }), chunk({ content: 'b' })],
    [chunk({})],
  ]
  const { chunks, state } = source(...batches)
  const whole = await committed(chunks, unreadable)
  expect(state.read).toBe(2)
  expect(await Array.fromAsync(whole)).toEqual([batches.slice(0, 2).flat(), batches[2]])
})

test('a stream without content is given back as it was', async () => {
  const { chunks } = source([chunk({ role: 'assistant' })], [chunk({})])
  expect((await Array.fromAsync(await committed(chunks, unreadable))).flat()).toHaveLength(2)
  expect(await Array.fromAsync(await committed(source().chunks, unreadable))).toEqual([])
})

test('a stream whose beginning cannot be read is closed', async () => {
  const { chunks, state } = source([Chunk.fromBytes(Buffer.from('data: nonsense\n\n'))], [chunk({})])
  await expect(committed(chunks, unreadable)).rejects.toThrow('nobody can read it')
  expect(state).toEqual({ read: 1, closed: true })
})

test('a reader that leaves closes the stream, also before it has read', async () => {
  const { chunks, state } = source([chunk({ content: 'a' })], [chunk({ content: 'b' })])
  const iterator = (await committed(chunks, unreadable))[Symbol.asyncIterator]()
  await iterator.return?.()
  expect(state).toEqual({ read: 1, closed: true })
})
