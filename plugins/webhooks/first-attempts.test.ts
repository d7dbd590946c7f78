import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { FirstAttempts, type Untried } from './first-attempts.ts'

/** Attempts that end when they are told to, and deliveries that wait on disk or are added. */
function attempts(onDisk: readonly (readonly [string, string])[] = []) {
  const begun: string[] = []
  const running = new Map<string, (isMade: boolean) => void>()
  const added = new Set<(webhook: string, delivery: string) => void>()
  const untried: Untried = {
    watch(add) {
      added.add(add)
      return () => void added.delete(add)
    },
    async *waiting() {
      yield* onDisk
    },
  }
  return {
    begun,
    running,
    untried,
    send: (delivery: string) => {
      begun.push(delivery)
      return new Promise<boolean>((resolve) => running.set(delivery, resolve))
    },
    add: (webhook: string, delivery: string) => {
      for (const add of added) add(webhook, delivery)
    },
    /** All that may begin has begun. */
    async settled() {
      for (let before = -1; before !== begun.length; await turn()) {
        before = begun.length
        await turn()
      }
    },
    end(delivery: string, isMade = true) {
      running.get(delivery)!(isMade)
      running.delete(delivery)
    },
  }
}

test('begin in their order, some at a time of each webhook, and a webhook that hangs holds up no other', async () => {
  const { begun, send, add, untried, settled, end, running } = attempts()
  await new FirstAttempts().sendBy(send, untried)
  for (let n = 0; n < 40; n += 1) add('slow', `slow ${n}`)
  await settled()
  expect(begun).toEqual(Array.from({ length: 32 }, (_, n) => `slow ${n}`))
  add('fast', 'fast 0')
  await settled()
  expect(begun.at(-1)).toBe('fast 0')
  end('slow 5')
  await settled()
  expect(begun.at(-1)).toBe('slow 32')
  expect(running.size).toBe(33)
})

test('begin a few in a turn of the event loop, and in turns of the webhooks', async () => {
  const { begun, send, add, untried, settled } = attempts()
  await new FirstAttempts().sendBy(send, untried)
  for (let n = 0; n < 10; n += 1) for (const webhook of ['a', 'b', 'c']) add(webhook, `${webhook}${n}`)
  await turn()
  expect(begun.length).toBeLessThan(10)
  await settled()
  expect(begun.slice(0, 6)).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'c1'])
  expect(begun).toHaveLength(30)
})

test('are no more than 512 of all webhooks', async () => {
  const { begun, send, add, untried, settled, end } = attempts()
  await new FirstAttempts().sendBy(send, untried)
  for (let n = 0; n < 600; n += 1) add(`webhook ${n}`, `${n}`)
  await settled()
  expect(begun).toHaveLength(512)
  end('7')
  await settled()
  expect(begun).toHaveLength(513)
})

test('begin with those on disk, once each, also when one of them is added meanwhile', async () => {
  const { begun, send, add, untried, settled } = attempts([
    ['a', 'first'],
    ['a', 'second'],
  ])
  const known = new FirstAttempts().sendBy(send, untried)
  add('a', 'second')
  await known
  await settled()
  expect(begun.toSorted()).toEqual(['first', 'second'])
})

test('go over to the next sender: those that wait, those that were stopped, and those that come', async () => {
  const first = new FirstAttempts()
  const [old, next] = [attempts([['a', 'on disk']]), attempts([['a', 'not read again']])]
  const end = await first.sendBy(old.send, old.untried)
  for (let n = 0; n < 40; n += 1) old.add('a', `${n}`)
  await old.settled()
  await first.sendBy(next.send, next.untried)
  end()
  old.add('a', 'told to the old one')
  next.add('a', 'new')
  old.end('on disk', false)
  for (let n = 0; n < 31; n += 1) old.end(`${n}`)
  await next.settled()
  expect(next.begun).toEqual(['on disk', ...Array.from({ length: 9 }, (_, n) => `${n + 31}`), 'new'])
})

test('wait while nothing sends', async () => {
  const first = new FirstAttempts()
  const { begun, send, add, untried, settled } = attempts()
  const end = await first.sendBy(send, untried)
  add('a', 'one')
  end()
  await settled()
  expect(begun).toEqual([])
  await first.sendBy(send, untried)
  await settled()
  expect(begun).toEqual(['one'])
})
