import { expect, test } from 'vitest'
import type { Attempt } from '#kernel'
import { Reservation } from './reservation.ts'

const attemptAt = (model: string, error?: Error) => ({ model, identity: {}, error }) as unknown as Attempt

/** A reservation of so much in a pool of so much in all, which says what is taken. */
function takenFrom(most: number, first: number) {
  let taken = first
  const reservation = new Reservation({ tokens: first, nano: 0 }, async (to, from) => {
    const more = to.tokens - from.tokens
    if (taken + more > most) throw new Error('no room')
    taken += more
    return () => {
      taken -= more
    }
  })
  const enter = async (tokens: number, error?: Error) =>
    reservation.enter(attemptAt('m', error), () => ({ tokens, nano: 0 }))
  return {
    enter,
    settle: (used: number) => reservation.settle(() => (taken += used - first)),
    taken: () => taken,
  }
}

test('attempts at the same time have all of them set apart, and one that there is no room for nothing', async () => {
  const { enter, settle, taken } = takenFrom(100, 10)
  await enter(10)
  expect(taken()).toBe(10)
  await enter(50)
  expect(taken()).toBe(60)
  await expect(enter(50)).rejects.toThrow('no room')
  await enter(40)
  expect(taken()).toBe(100)
  await settle(7)
  expect(taken()).toBe(7)
})

test('what a failed attempt was to use is there for the next', async () => {
  const { enter, settle, taken } = takenFrom(100, 60)
  await enter(60, new Error('failed'))
  await enter(70, new Error('failed'))
  await enter(65)
  expect(taken()).toBe(70)
  await settle(0)
  expect(taken()).toBe(0)
  await enter(100)
  expect(taken()).toBe(0)
})

test('what is set apart while a call ends is given back as well', async () => {
  const { enter, settle, taken } = takenFrom(100, 10)
  const entering = enter(90)
  await settle(5)
  await entering
  expect(taken()).toBe(5)
})
