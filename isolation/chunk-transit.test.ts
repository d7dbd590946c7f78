import { expect, test } from 'vitest'
import { Chunk } from '../kit/canonical/chunk.ts'
import type { CompletionChunk } from '../kit/canonical/forms.ts'
import { ChunkArrivals, type ChunkBatch, ChunkTransit } from './chunk-transit.ts'

const dataOf = (content: string): CompletionChunk => ({ choices: [{ index: 0, delta: { content } }] })
const eventOf = (content: string): Buffer => Buffer.from(`data: ${JSON.stringify(dataOf(content))}\n\n`)
const twoEvents = Buffer.concat([eventOf('a'), eventOf('b')])

test.each([
  ['made of one event', Chunk.of(dataOf('ä')), 1, 'ä', undefined],
  ['made of several events', Chunk.of(dataOf('ab'), undefined, 2), 2, 'ab', undefined],
  ['of an event’s bytes', Chunk.fromBytes(eventOf('ä')), 1, 'ä', eventOf('ä')],
  [
    'of the bytes of several events that were parsed',
    Chunk.fromBytes(twoEvents, dataOf('ab'), undefined, 2),
    2,
    'ab',
    twoEvents,
  ],
  [
    'of the bytes of several events that nobody has parsed',
    Chunk.unread(twoEvents, { read: () => dataOf('ab') }, 2),
    2,
    'ab',
    twoEvents,
  ],
])('a chunk %s is the same in a worker, and itself once it is back', (_, chunk, events, text, raw) => {
  const [transit, arrivals] = [new ChunkTransit(), new ChunkArrivals()]
  const [there] = arrivals.enter(structuredClone(transit.leave([chunk])) as ChunkBatch)
  expect([there!.events, there!.data, there!.raw]).toEqual([events, dataOf(text), raw])
  expect(transit.enter(arrivals.leave([there!]))[0]).toBe(chunk)
})

test('a chunk that a worker made comes back as what it says, and then nothing can be put back', () => {
  const [transit, arrivals] = [new ChunkTransit(), new ChunkArrivals()]
  const [there, other] = arrivals.enter(transit.leave([Chunk.of(dataOf('a')), Chunk.of(dataOf('b'))]))
  const back = transit.enter(arrivals.leave([there!.with(dataOf('changed')), other!]))
  expect(back.map(({ data }) => data)).toEqual([dataOf('changed'), dataOf('b')])
  expect(transit.putBack()).toBeUndefined()
})

test('chunks that are still in a worker are put back in their order', () => {
  const transit = new ChunkTransit()
  const chunks = ['a', 'b', 'c'].map((text) => Chunk.of(dataOf(text)))
  const arrivals = new ChunkArrivals()
  const [first] = arrivals.enter(transit.leave(chunks))
  transit.enter(arrivals.leave([first!]))
  expect(transit.putBack()).toEqual(chunks.slice(1))
})
