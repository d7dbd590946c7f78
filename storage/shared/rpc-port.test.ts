import { getEventListeners } from 'node:events'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { StoreError } from '../errors.ts'
import { type Handlers, type RpcOptions, RpcPort } from './rpc-port.ts'

type Far = {
  double(n: number): number
  slow(signal: string): string
  fail(how: string): never
  odd(): unknown
  take(port: MessagePort): string
  say(word: string): void
}

let ends: (() => void)[] = []

afterEach(() => {
  for (const end of ends) end()
  ends = []
})

/** Both ends of a channel, and what was said to the far one. */
function connect(options: RpcOptions = {}, more: Partial<Handlers<Far>> = {}) {
  const { port1, port2 } = new MessageChannel()
  const said: string[] = []
  const near = new RpcPort<Far, { near(n: number): number }>(port1, { near: (n) => n + 1 }, options)
  const far = new RpcPort<{ near(n: number): number }, Far>(
    port2,
    {
      double: (n) => 2 * n,
      slow: (_, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve('given up'))),
      fail: (how) => {
        if (how === 'a text') throw how
        if (how === 'ROW_EXISTS') throw new StoreError(how, 'as asked')
        throw Object.assign(new Error('as asked'), { name: how })
      },
      odd: () => () => 1,
      take: (port) => port.constructor.name,
      say: (word) => void said.push(word),
      ...more,
    },
    options,
  )
  ends.push(() => port1.close())
  return { near, far, port1, port2, said }
}

test.each([false, true])(
  'answers are those of their calls, in any number, both ways; gathered: %s',
  async (gathers) => {
    const { near, far } = connect({ gathers })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer()), async (numbers) => {
        const [doubled, more] = await Promise.all([
          Promise.all(numbers.map((n) => near.call('double', n))),
          Promise.all(numbers.map((n) => far.call('near', n))),
        ])
        expect(doubled).toEqual(numbers.map((n) => 2 * n))
        expect(more).toEqual(numbers.map((n) => n + 1))
        expect(near.pending).toBe(0)
      }),
    )
  },
)

test.each([false, true])(
  'what cannot cross fails alone, in both directions; gathered: %s',
  async (gathers) => {
    const failed: unknown[] = []
    const { near, said } = connect({
      gathers,
      uncloneable: () => new Error('not to be copied'),
      failed: (error) => failed.push(error),
    })
    const calls = [
      near.call('say', (() => {}) as never),
      near.call('odd', undefined),
      near.call('double', 4),
    ] as const
    near.notify('say', (() => {}) as never)
    near.notify('say', 'a word')
    const [given, got, sound] = await Promise.allSettled(calls)
    expect(given).toMatchObject({ status: 'rejected', reason: { message: 'not to be copied' } })
    expect(got).toMatchObject({ status: 'rejected', reason: { message: 'not to be copied' } })
    expect(sound).toEqual({ status: 'fulfilled', value: 8 })
    await expect.poll(() => said).toEqual(['a word'])
    expect(failed).toHaveLength(1)
  },
)

test('errors keep their names and messages, and what is no method is one', async () => {
  const { near } = connect()
  await expect(near.call('fail', 'Special')).rejects.toMatchObject({ name: 'Special', message: 'as asked' })
  await expect(near.call('fail', 'a text')).rejects.toMatchObject({ name: 'Error', message: 'a text' })
  await expect(near.call('fail', 'ROW_EXISTS')).rejects.toMatchObject({
    name: 'StoreError',
    code: 'ROW_EXISTS',
    message: 'as asked',
  })
  const unknown = near.call as (method: string, argument: unknown) => Promise<unknown>
  for (const method of ['constructor', 'toString', 'nothing'])
    await expect(unknown.call(near, method, 1)).rejects.toThrow(`no method ${method}`)
})

test('a call that is not wanted any more is told of, before and after it was made', async () => {
  const { near } = connect()
  const control = new AbortController()
  const { signal } = control
  const slow = near.call('slow', 'x', { signal })
  expect(await near.call('double', 1, { signal })).toBe(2)
  expect([near.pending, getEventListeners(signal, 'abort').length]).toEqual([1, 1])
  control.abort()
  expect(await slow).toBe('given up')
  expect(await near.call('slow', 'x', { signal: control.signal })).toBe('given up')
})

test('a port changes hands with the argument', async () => {
  const { near } = connect()
  const { port1 } = new MessageChannel()
  expect(await near.call('take', port1, { transfer: [port1] })).toBe('MessagePort')
})

test('when one side goes, what waits rejects on the other, and what is served there is given up', async () => {
  const served = Promise.withResolvers<AbortSignal>()
  const never = (_: string, { signal }: { signal: AbortSignal }) => {
    served.resolve(signal)
    return new Promise<string>(() => {})
  }
  const { near, far, port1 } = connect({}, { slow: never })
  const waiting = near.call('slow', 'x')
  const signal = await served.promise
  const lost = expect(waiting).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  port1.close()
  await Promise.all([lost, near.closed, far.closed])
  expect(signal.aborted).toBe(true)
  await expect(near.call('double', 1)).rejects.toMatchObject({ code: 'STORE_CLOSED' })
})

test('what makes no sense harms nobody, and what follows is heard', async () => {
  const failed: unknown[] = []
  const { near, port1, said } = connect({ failed: (error) => failed.push(error) })
  for (const odd of [
    7,
    null,
    [null],
    [7, {}],
    [{ notify: 'nothing' }],
    [{ sign: 'odd' }],
    [{ answer: 99, value: 1 }],
  ])
    port1.postMessage(odd)
  near.notify('say', 'still here')
  await expect.poll(() => said).toEqual(['still here'])
  const invalid = Array(6).fill('a thread sent an invalid message')
  expect(failed.map((error) => (error as Error).message).sort()).toEqual([
    ...invalid,
    'there is no method nothing in this thread',
  ])
})

test('a ping is answered with a sign of life', async () => {
  const failed: unknown[] = []
  const { near } = connect({ failed: (error) => failed.push(error) })
  const before = near.heardAt
  near.ping()
  await expect.poll(() => near.heardAt).toBeGreaterThan(before)
  expect(failed).toEqual([])
})

test('when a message cannot be read on the other side, what waits rejects, and later calls do not', async () => {
  const { near, port2 } = connect()
  const waiting = near.call('slow', 'x')
  port2.emit('messageerror', new Error('cannot be read'))
  await expect(waiting).rejects.toThrow('could not read')
  expect(await near.call('double', 2)).toBe(4)
})

test('a side that was closed hears and says nothing more, and keeps its first reason', async () => {
  const heard: number[] = []
  const { near, far, port1, said } = connect()
  const nearly = new MessageChannel()
  const closed = new RpcPort<Far, { near(n: number): void }>(nearly.port1, {
    near: (n) => void heard.push(n),
  })
  ends.push(() => nearly.port1.close())
  const arrived = new Promise((resolve) => nearly.port1.on('message', resolve))
  closed.close()
  nearly.port2.postMessage([{ notify: 'near', argument: 1 }])
  await arrived
  await new Promise((resolve) => setImmediate(resolve))
  expect(heard).toEqual([])

  near.close(new Error('first'))
  near.close(new Error('second'))
  await expect(near.call('double', 1)).rejects.toThrow('first')
  near.notify('say', 'late')
  port1.postMessage([{ notify: 'say', argument: 'by hand' }])
  await expect.poll(() => said).toEqual(['by hand'])
  expect(far.pending).toBe(0)
})

test.each([
  [true, 1],
  [false, 3],
])('what one turn says is one message where it is gathered (%s): %i', async (gathers, messages) => {
  const { near, port2 } = connect({ gathers })
  let count = 0
  port2.on('message', () => {
    count += 1
  })
  expect(await Promise.all([1, 2, 3].map((n) => near.call('double', n)))).toEqual([2, 4, 6])
  expect(count).toBe(messages)
})

test('a request that was answered is not given up when the other side goes', async () => {
  let served: AbortSignal | undefined
  const { near, far, port1 } = connect(
    {},
    {
      slow: (word, { signal }) => {
        served = signal
        return word
      },
    },
  )
  expect(await near.call('slow', 'quick')).toBe('quick')
  port1.close()
  await far.closed
  expect(served!.aborted).toBe(false)
})
