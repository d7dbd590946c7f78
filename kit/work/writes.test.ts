import { expect, test } from 'vitest'
import { Writes } from './writes.ts'

/** A write that ends when the test says so. */
function held(done: string[], name: string) {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const write = async (): Promise<void> => {
    done.push(`${name} begins`)
    await promise
    done.push(`${name} ends`)
  }
  return { write, resolve, reject }
}

test('writes of one name run one at a time, and whoever waits comes behind them', async () => {
  const [writes, done] = [new Writes(), [] as string[]]
  const [first, second, other] = ['first', 'second', 'other'].map((name) => held(done, name))
  const ended = [writes.run('a', first!.write), writes.run('a', second!.write), writes.run('b', other!.write)]
  const waited = [
    writes.of('a').then(() => done.push('a is over')),
    writes.all().then(() => done.push('all is over')),
  ]
  await writes.of('nothing')
  first!.resolve()
  await ended[0]
  second!.resolve()
  await waited[0]
  other!.resolve()
  await Promise.all([...ended, ...waited])
  expect(done.filter((step) => !step.startsWith('other'))).toEqual([
    'first begins',
    'first ends',
    'second begins',
    'second ends',
    'a is over',
    'all is over',
  ])
  expect(done.indexOf('other begins')).toBeLessThan(done.indexOf('first ends'))
})

test('a write that fails tells its caller, and keeps neither the next one nor who waits', async () => {
  const [writes, done] = [new Writes(), [] as string[]]
  const failing = held(done, 'failing')
  const failed = writes.run('a', failing.write)
  const next = writes.run('a', async () => void done.push('next'))
  failing.reject(new Error('full'))
  await expect(failed).rejects.toThrow('full')
  await Promise.all([next, writes.of('a'), writes.all()])
  expect(done).toEqual(['failing begins', 'next'])
})
