import { expect, test } from 'vitest'
import { Cancel, Chunk, Cohort, Countdowns, type Log, type Protocol } from '#kernel'
import { EventSplitter, encodeEvent } from '#kit'
import { translation } from '../../../test/translation.ts'
import openai from '../../openai/manifest.json' with { type: 'json' }
import { UpstreamAnswer } from '../transport/upstream-answer.ts'
import { DecodedChunks } from './decoded.ts'

const { call, target } = translation(openai as Parameters<typeof translation>[0], { model: 'm' })

/** The chunks of a stream that came in pieces before it was read, each event a chunk. */
function chunksOf(...pieces: readonly Buffer[]): DecodedChunks {
  const answer = new UpstreamAnswer({
    target,
    cancel: new Cancel(),
    timeouts: {},
    limits: {},
    cohort: new Cohort(),
    countdowns: new Countdowns(),
  })
  const controller = {} as Parameters<UpstreamAnswer['onResponseData']>[0]
  answer.onResponseStart(controller, 200, {})
  for (const piece of pieces) answer.onResponseData(controller, piece)
  answer.onResponseEnd()
  const events = new EventSplitter()
  const decoder = {
    isOver: false,
    push: (bytes: Buffer) => events.push(bytes).map((event) => Chunk.fromBytes(event)),
    end: () => [],
  }
  const protocol = { id: 'p', decoder: () => decoder } as unknown as Protocol
  return new DecodedChunks(answer, { protocol, call, target, log: {} as Log, names: undefined })
}

async function batchesOf(chunks: DecodedChunks): Promise<string[][]> {
  const batches: string[][] = []
  for (let batch = await chunks.read(); batch; batch = await chunks.read())
    batches.push(batch.map(({ raw }) => raw!.toString()))
  return batches
}

const events = Array.from({ length: 10_000 }, (_, i) => encodeEvent({ i, choices: [] }))
const bytes = Buffer.from(events.join(''))

test('thousands of events that came together are read in parts, in their order', async () => {
  const batches = await batchesOf(chunksOf(bytes.subarray(0, 50_000), bytes.subarray(50_000)))
  expect(batches.flat()).toEqual(events)
  expect(bytes.length).toBeGreaterThan(4 * 65_536)
  for (const batch of batches)
    expect(batch.join('').length).toBeLessThanOrEqual(65_536 + events.at(-1)!.length)
})

test('others have turns between the parts', async () => {
  const chunks = chunksOf(bytes)
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  for (let batch = await chunks.read(); batch; batch = await chunks.read()) {
    // What filters do with a part.
    const until = performance.now() + 11
    while (performance.now() < until);
  }
  isOver = true
  expect(turns).toBeGreaterThanOrEqual(Math.floor(bytes.length / 65_536))
})

test('a reader that leaves between two parts gets no more of them', async () => {
  const chunks = chunksOf(bytes)
  await chunks.read()
  chunks.leave()
  expect(await chunks.read()).toBeUndefined()
})
