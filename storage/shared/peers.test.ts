import { afterEach, expect, test, vi } from 'vitest'
import { settled } from './host-parts.ts'
import type { CounterStep, StoreNews } from './messages.ts'
import { Peers, pathOf, type Tell } from './peers.ts'

afterEach(() => {
  vi.useRealTimers()
})

const news: StoreNews = { wanted: 'rows' }

/** Whether a promise has settled once everything has happened that can happen now. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false
  const settle = (): void => {
    done = true
  }
  promise.then(settle, settle)
  await settled()
  return done
}

/** A thread that answers when it is told to. */
function thread(): { tell: Tell; told: StoreNews[]; answer: PromiseWithResolvers<void> } {
  const told: StoreNews[] = []
  const answer = Promise.withResolvers<void>()
  const tell = (one: StoreNews): Promise<void> => {
    told.push(one)
    return answer.promise
  }
  return { tell, told, answer }
}

test('all threads but one are told, and are waited for', async () => {
  const peers = new Peers()
  const [one, two, three, gone] = [thread(), thread(), thread(), thread()]
  for (const { tell } of [one, two, three, gone]) peers.add(tell)
  peers.delete(gone.tell)
  const all = peers.tellAll(news, three.tell)
  expect([one, two, three, gone].map(({ told }) => told)).toEqual([[news], [news], [], []])
  one.answer.resolve()
  expect(await isDone(all)).toBe(false)
  two.answer.reject(new Error('gone'))
  expect(await isDone(all)).toBe(true)
  await all
})

test('with no other thread nothing is waited for', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const peers = new Peers()
  await peers.tellAll(news)
  const only = thread()
  peers.add(only.tell)
  await peers.tellAll(news, only.tell)
  await peers.heard('rows')
  expect([only.told, vi.getTimerCount()]).toEqual([[], 0])
})

test('a thread that does not answer is waited for no longer than five seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const peers = new Peers()
  const [silent, other] = [thread(), thread()]
  peers.add(silent.tell)
  peers.note('rows', other.answer.promise)
  const waits = [peers.tellAll(news), peers.heard('rows')]
  vi.advanceTimersByTime(4_999)
  for (const wait of waits) expect(await isDone(wait)).toBe(false)
  vi.advanceTimersByTime(1)
  for (const wait of waits) expect(await isDone(wait)).toBe(true)
})

test('no timer is left when all have answered', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const peers = new Peers()
  const { tell, answer } = thread()
  peers.add(tell)
  answer.resolve()
  await peers.tellAll(news)
  expect(vi.getTimerCount()).toBe(0)
})

test('what a thread counts reaches the others that count under its path', () => {
  const peers = new Peers()
  const told: [string, readonly CounterStep[]][] = []
  const counting = (name: string, path: string) => ({
    path,
    tell: (steps: readonly CounterStep[]) => void told.push([name, steps]),
  })
  const [self, other, elsewhere, gone] = [
    counting('self', 'use'),
    counting('other', 'use'),
    counting('elsewhere', 'cost'),
    counting('gone', 'use'),
  ]
  for (const one of [self, other, elsewhere, gone]) peers.count(one)
  peers.discount(gone)
  const steps: CounterStep[] = [['add', 'calls', 1]]
  peers.counted(self, steps)
  expect(told).toEqual([['other', steps]])
})

test('a write is heard when every message about it has arrived, or cannot', async () => {
  const peers = new Peers()
  const [first, second, other] = [thread(), thread(), thread()]
  peers.note('a', first.answer.promise)
  peers.note('a', second.answer.promise)
  peers.note('b', other.answer.promise)
  const heard = peers.heard('a')
  first.answer.resolve()
  expect(await isDone(heard)).toBe(false)
  second.answer.reject(new Error('gone'))
  expect(await isDone(heard)).toBe(true)
  expect(await isDone(peers.heard('b'))).toBe(false)
  expect(await isDone(peers.heard('c'))).toBe(true)
  const later = thread()
  peers.note('a', later.answer.promise)
  expect(await isDone(peers.heard('a'))).toBe(false)
})

test('messages that arrive are forgotten, and those that come with them are not', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const peers = new Peers()
  const [first, second] = [thread(), thread()]
  peers.note('a', first.answer.promise)
  peers.note('a', second.answer.promise)
  first.answer.resolve()
  await settled()
  expect(await isDone(peers.heard('a'))).toBe(false)
  expect(vi.getTimerCount()).toBe(1)
  second.answer.resolve()
  await settled()
  await peers.heard('a')
  expect(vi.getTimerCount()).toBe(1)
})

test('the path of a part is its namespaces and its name', () => {
  const part = { part: 1, kind: 'log', name: 'calls' } as const
  expect(pathOf({ ...part, path: ['a', 'b'] })).toBe('a/b/calls')
  expect(pathOf({ ...part, path: [] })).toBe('calls')
})
