import { expect, test } from 'vitest'
import { Chunk } from '#kernel'
import { encodeEvent } from '#kit'
import { Snapshot, type SnapshotRoom, snapshotRoom } from './snapshot.ts'

const kb = 1024
const out = { emit() {}, finish() {}, fail() {} }
const event = Buffer.from(
  encodeEvent({ choices: [{ index: 0, delta: { content: 'a'.repeat(32 * kb) }, finish_reason: null }] }),
)

/** A stream of about so many kilobytes that is kept. */
function streamed(size: number, room: SnapshotRoom): Snapshot {
  const snapshot = new Snapshot({ maxBytes: 512 * kb, storeTimings: false, started: 0, room })
  for (let came = 0; came < size; came += 32) snapshot.push(Chunk.fromBytes(event), out)
  return snapshot
}

const isKept = (snapshot: Snapshot): boolean => snapshot.completion() !== undefined

test('of many long streams at once the first are kept no more, and short ones are', () => {
  const room = snapshotRoom(512 * kb)
  const short = streamed(64, room)
  const long = Array.from({ length: 40 }, () => streamed(448, room))
  expect(isKept(short)).toBe(true)
  expect(short.facts(0, false).truncated).toBe(false)
  const kept = long.filter(isKept)
  expect(kept).toEqual(long.slice(-kept.length))
  expect(kept.length).toBeGreaterThan(10)
  // Sixteen of the longest.
  expect(kept.length * 448).toBeLessThanOrEqual(16 * 512)
  expect(long[0]!.facts(0, false).truncated).toBe(true)
})

test('streams that have ended leave their room to others', () => {
  const room = snapshotRoom(512 * kb)
  for (let n = 0; n < 40; n += 1) {
    const snapshot = streamed(448, room)
    expect(isKept(snapshot)).toBe(true)
    snapshot.leave()
  }
  const still = streamed(448, room)
  for (let n = 0; n < 10; n += 1) streamed(448, room)
  expect(isKept(still)).toBe(true)
})
