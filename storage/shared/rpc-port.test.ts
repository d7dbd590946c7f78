import { MessageChannel, type MessagePort } from 'node:worker_threads'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
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
  const unknown = near.call as (method: string, argument: unknown) => Promise<unknown>
  for (const method of ['constructor', 'toString', 'nothing'])
    await expect(unknown.call(near, method, 1)).rejects.toThrow(`no method ${method}`)
})

test('a call that is not wanted any more is told of, before and after it was made', async () => {
  const { near } = connect()
  const control = new AbortController()
  const slow = near.call('slow', 'x', { signal: control.signal })
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
  expect(failed.length).toBeGreaterThanOrEqual(5)
})

test('a ping is answered with a sign of life', async () => {
  const { near } = connect()
  const before = near.heardAt
  near.ping()
  await expect.poll(() => near.heardAt).toBeGreaterThan(before)
})
