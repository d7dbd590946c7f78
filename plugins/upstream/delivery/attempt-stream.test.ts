import { expect, test } from 'vitest'
import { type Attempt, Chunk, type Delta, type Protocol, type Target } from '#kernel'
import { AttemptStream, sourceOf } from './attempt-stream.ts'

const chunk = (delta: Delta): Chunk => Chunk.of({ choices: [{ index: 0, delta, finish_reason: null }] })
const unreadable = (cause: unknown): Error => new Error('nobody can read it', { cause })

/** A stream that has begun, of an attempt that has no observer. */
async function begun(chunks: AsyncIterable<readonly Chunk[]>): Promise<AsyncIterable<readonly Chunk[]>> {
  const attempt = { startedAt: 0 } as Attempt
  const [failed, ended] = [async () => {}, () => {}]
  const watched = { attempt, protocol: {} as Protocol, target: {} as Target, failed, ended }
  const stream = new AttemptStream(sourceOf(chunks), watched)
  await stream.begin(unreadable)
  return { [Symbol.asyncIterator]: () => stream }
}

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
  const whole = await begun(chunks)
  expect(state.read).toBe(2)
  expect(await Array.fromAsync(whole)).toEqual([batches.slice(0, 2).flat(), batches[2]])
})

test('a stream without content is given back as it was', async () => {
  const { chunks } = source([chunk({ role: 'assistant' })], [chunk({})])
  expect((await Array.fromAsync(await begun(chunks))).flat()).toHaveLength(2)
  expect(await Array.fromAsync(await begun(source().chunks))).toEqual([])
})

test('a stream whose beginning cannot be read is closed', async () => {
  const { chunks, state } = source([Chunk.fromBytes(Buffer.from('data: nonsense\n\n'))], [chunk({})])
  await expect(begun(chunks)).rejects.toThrow('nobody can read it')
  expect(state).toEqual({ read: 1, closed: true })
})

test('a reader that leaves closes the stream, also before it has read', async () => {
  const { chunks, state } = source([chunk({ content: 'a' })], [chunk({ content: 'b' })])
  const iterator = (await begun(chunks))[Symbol.asyncIterator]()
  await iterator.return?.()
  expect(state).toEqual({ read: 1, closed: true })
})
