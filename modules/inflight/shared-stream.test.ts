import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Chunk, isGatewayError } from '#kernel'
import { oneByOne } from '../../test/chain.ts'
import { SharedStream } from './shared-stream.ts'

const chunkOf = (text: string): Chunk => Chunk.fromBytes(Buffer.from(text))
const chunks = (count: number, bytes = 10): Chunk[] =>
  Array.from({ length: count }, (_, n) => chunkOf(String(n).padStart(bytes)))

const wholeOf = (count: number): string =>
  chunks(count)
    .map(({ raw }) => raw!.toString())
    .join('')

async function textOf(read: AsyncIterable<readonly Chunk[]>): Promise<string> {
  let text = ''
  for await (const batch of read) for (const { raw } of batch) text += raw!.toString()
  return text
}

/** A source that tells how often it was asked and whether it was left. */
function observed(source: readonly Chunk[]) {
  const seen = { asked: 0, isLeft: false }
  const inner = oneByOne(source)
  const iterator = {
    next() {
      seen.asked += 1
      return inner.next()
    },
    async return() {
      seen.isLeft = true
      return { done: true as const, value: undefined }
    },
  }
  return { seen, source: { [Symbol.asyncIterator]: () => iterator } }
}

test('however its readers take turns, each gets all of it, and the source is read once', async () => {
  const turns = fc.array(fc.nat(3), { maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(fc.nat(12), turns, async (count, order) => {
      const { seen, source } = observed(chunks(count))
      const stream = new SharedStream(source, 1_000_000)
      const readers: AsyncIterator<readonly Chunk[]>[] = []
      const texts: string[] = []
      for (const n of order) {
        readers[n] ??= stream.read(false).chunks[Symbol.asyncIterator]()
        const step = await readers[n].next()
        texts[n] = (texts[n] ?? '') + (step.done ? '' : step.value.map(({ raw }) => raw!.toString()).join(''))
      }
      for (const n of readers.keys()) {
        const reader = readers[n]
        if (!reader) continue
        texts[n] += await textOf({ [Symbol.asyncIterator]: () => reader })
        expect(texts[n]).toBe(wholeOf(count))
      }
      expect(seen.asked).toBeLessThanOrEqual(count + 1)
    }),
  )
})

test('a failure reaches every reader after what had come', async () => {
  async function* failing() {
    yield chunks(1)
    throw new Error('broken')
  }
  const stream = new SharedStream(failing(), 1000)
  for (const { chunks } of [stream.read(true), stream.read(false)]) {
    const reader = chunks[Symbol.asyncIterator]()
    expect(await reader.next()).toMatchObject({ done: false })
    await expect(reader.next()).rejects.toThrow('broken')
  }
})

test('a stream that is longer than what is kept takes no further reader', async () => {
  const stream = new SharedStream(oneByOne(chunks(10)), 30)
  const reader = stream.read(false).chunks[Symbol.asyncIterator]()
  for (let n = 0; n < 3; n += 1) await reader.next()
  expect(stream.isOpen).toBe(true)
  await reader.next()
  expect(stream.isOpen).toBe(false)
})

test('a reader that is further behind than what is kept is cut off, and the others go on', async () => {
  const stream = new SharedStream(oneByOne(chunks(10)), 30)
  const [slow, fast] = [stream.read(false), stream.read(false)]
  const reader = slow.chunks[Symbol.asyncIterator]()
  await reader.next()
  expect(await textOf(fast.chunks)).toBe(wholeOf(10))
  const error = await reader.next().catch((error: unknown) => error)
  expect(isGatewayError(error) && error.type).toBe('timeout')
})

test('one chunk may be larger than what is kept', async () => {
  const stream = new SharedStream(oneByOne(chunks(2, 100)), 30)
  const [one, other] = [stream.read(false), stream.read(false)]
  const reader = other.chunks[Symbol.asyncIterator]()
  await one.chunks[Symbol.asyncIterator]().next()
  expect(await reader.next()).toMatchObject({ done: false })
})

test('the source is left with its last reader, and a reader that stays learns of it then', async () => {
  const { seen, source } = observed(chunks(10))
  const stream = new SharedStream(source, 1000)
  const [first, second] = [stream.read(true), stream.read(false)].map(({ chunks }) =>
    chunks[Symbol.asyncIterator](),
  )
  await first!.next()
  let isToldOf = false
  const left = first!.return!().then(() => {
    isToldOf = true
  })
  await second!.next()
  expect([seen.isLeft, isToldOf]).toEqual([false, false])
  await second!.return!()
  await left
  expect([seen.isLeft, isToldOf]).toEqual([true, true])
})
