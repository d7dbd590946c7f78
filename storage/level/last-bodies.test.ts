import { expect, test } from 'vitest'
import { encodeBodies } from './chunk.ts'
import { LastBodies } from './last-bodies.ts'

const stored = (...bodies: string[]): Uint8Array => Buffer.from(encodeBodies(bodies)!)

test('a chunk is decoded once while it is read again and again, and another one is not taken for it', () => {
  const last = new LastBodies()
  const [one, other] = [stored('first', 'second'), stored('first', 'sekond')]
  const slots = last.decode(one)
  expect(slots).toEqual(['first', 'second'])
  expect(last.decode(Buffer.from(one))).toBe(slots)
  expect(last.decode(other)).toEqual(['first', 'sekond'])
  expect(last.decode(undefined)).toEqual([])
  expect(last.decode(one)).toEqual(slots)
})
