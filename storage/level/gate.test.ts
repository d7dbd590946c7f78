import { expect, test } from 'vitest'
import { StoreError } from '../errors.ts'
import { Gate } from './gate.ts'

/** What has happened, in order. */
let happened: string[]

const note =
  (what: string): (() => void) =>
  () =>
    void happened.push(what)

/** Lets everything happen that can happen now. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** An operation that is inside the gate until it is told to leave. */
function staying(gate: Gate, enter: 'run' | 'within' = 'run') {
  happened = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const left = gate[enter](() => promise)
  return {
    async leave(): Promise<void> {
      resolve()
      await left
    },
  }
}

const closed = { code: 'STORE_CLOSED' }

test('a closed gate refuses every operation, and one behind it too', async () => {
  const outer = new Gate()
  const inner = new Gate(outer)
  expect(inner.isOpen).toBe(true)
  inner.check()
  expect(await inner.run(() => 7)).toBe(7)
  await outer.close()
  for (const gate of [outer, inner]) {
    expect(gate.isOpen).toBe(false)
    expect(() => gate.check()).toThrow(expect.objectContaining(closed))
    await expect(gate.run(() => 7)).rejects.toMatchObject(closed)
    await expect(gate.within(() => 7)).rejects.toMatchObject(closed)
  }
})

test('an inner gate closes alone', async () => {
  const outer = new Gate()
  const inner = new Gate(outer)
  await inner.close()
  expect([inner.isOpen, outer.isOpen]).toEqual([false, true])
  expect(await outer.run(() => 7)).toBe(7)
})

test('a gate is closed when the last operation has left it and the gates behind it', async () => {
  const outer = new Gate()
  const stays = [staying(outer), staying(new Gate(outer)), staying(new Gate(outer), 'within')]
  const closing = outer.close().then(note('closed'))
  for (const stay of stays) {
    await settled()
    expect(happened).toEqual([])
    await stay.leave()
  }
  await closing
  await outer.close()
})

test('an operation that fails leaves the gate, with its error', async () => {
  const gate = new Gate()
  await expect(gate.run(() => Promise.reject(new Error('out of order')))).rejects.toThrow('out of order')
  const corrupt = Object.assign(new Error('Corruption: bad block'), { code: 'LEVEL_CORRUPTION' })
  await expect(gate.run(() => Promise.reject(corrupt))).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  await gate.close()
})

test('operations wait before a gate that is held, behind it too, while those inside go on', async () => {
  const outer = new Gate()
  const inner = new Gate(outer)
  const stay = staying(outer)
  const held = outer.hold().then(note('held'))
  const waiting = [outer.run(note('outer')), inner.run(note('inner'))]
  await inner.within(note('within'))
  await settled()
  expect(happened).toEqual(['within'])
  await stay.leave()
  await held
  await settled()
  expect(happened).toEqual(['within', 'held'])
  outer.release()
  await Promise.all(waiting)
  expect(happened).toEqual(['within', 'held', 'outer', 'inner'])
  expect(await inner.run(() => 7)).toBe(7)
})

test('a gate can be held again and again, and operations wait for the end of each hold', async () => {
  const gate = new Gate()
  happened = []
  for (const name of ['first', 'second']) {
    await gate.hold()
    const waiting = gate.run(note(name))
    await settled()
    expect(happened).not.toContain(name)
    gate.release()
    await waiting
  }
  await gate.hold()
  const waiting = gate.run(note('third'))
  gate.release()
  await gate.hold()
  await settled()
  expect(happened).toEqual(['first', 'second'])
  gate.release()
  await waiting
})

test('a gate that is closed while operations wait before it refuses them', async () => {
  const gate = new Gate()
  await gate.hold()
  const waiting = gate.run(() => 7)
  await gate.close()
  await expect(gate.run(() => 7)).rejects.toMatchObject(closed)
  gate.release()
  await expect(waiting).rejects.toMatchObject(closed)
})

test('a gate can refuse those who wait, and all who come, until it is released', async () => {
  const gate = new Gate()
  const refusal = new StoreError('STORE_FAILED', 'The disk is full.')
  await gate.hold()
  const waiting = gate.run(() => 7)
  gate.release(refusal)
  await expect(waiting).rejects.toBe(refusal)
  await expect(gate.run(() => 7)).rejects.toBe(refusal)
  expect(await gate.within(() => 7)).toBe(7)
  await gate.hold()
  gate.release()
  expect(await gate.run(() => 7)).toBe(7)
})

test('a release without a hold changes nothing', async () => {
  const gate = new Gate()
  gate.release()
  gate.release(new StoreError('STORE_FAILED', 'The disk is full.'))
  expect(await gate.run(() => 7)).toBe(7)
})
