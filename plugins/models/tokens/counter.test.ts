import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../../kit/canonical/forms.ts'
import { TokenCounter } from './counter.ts'
import { TokenThread } from './thread.ts'

let counter = new TokenCounter()

afterEach(async () => {
  await counter.close()
  counter = new TokenCounter()
})

const hello = [{ role: 'user' as const, content: 'hello world' }]

it('counts requests and texts beside the thread that asks', async () => {
  const { input, output } = await counter.count({ model: 'gpt-4o', messages: hello }, ['hello', ' world'])
  expect(input).toMatchObject({ tokens: 9, quality: 'tokenizer', by: 'o200k_base' })
  expect(output).toBe(2)
})

it('answers each of many at once with its own', async () => {
  const texts = ['a', 'a b', 'a b c', 'a b c d']
  const all = await Promise.all(texts.map((text) => counter.count({ model: 'gpt-4o', messages: [] }, [text])))
  expect(all.map(({ output }) => output)).toEqual([1, 2, 3, 4])
})

it('keeps nobody waiting when it is closed, and starts again when it is asked again', async () => {
  const cut = expect(counter.count({ model: 'gpt-4o', messages: hello })).rejects.toThrow('closing')
  await counter.close()
  await cut
  expect((await counter.count({ model: 'claude-x', messages: hello })).input.quality).toBe('estimate')
})

it('ends a thread that has had nothing to count for a while, and starts another when there is something', async () => {
  let started = 0
  const count = (): void => void started++
  subscribe('worker_threads', count)
  const thread = new TokenThread(30_000, 1, 1)
  const request = { model: 'gpt-4o', messages: hello }
  try {
    await vi.waitFor(
      async () => {
        expect(await thread.ask({ request, texts: [] })).toMatchObject({ input: { tokens: 9 } })
        expect(started).toBeGreaterThan(1)
      },
      { timeout: 20_000 },
    )
  } finally {
    unsubscribe('worker_threads', count)
    await thread.close()
  }
})

/** A request that cannot cross to the thread: copying it would take more stack than there is. */
const uncopyable = () => ({ model: 'gpt-4o', messages: hello, metadata: nested(20_000) })

it('estimates what cannot cross to the thread, at once, and counts what comes after', async () => {
  const slow = new TokenCounter({ limitMs: 60_000 })
  const counts = [uncopyable(), uncopyable(), { model: 'gpt-4o', messages: hello }]
  const [first, second, third] = await Promise.all(counts.map((request) => slow.count(request, ['hello'])))
  expect([first!.input.quality, second!.input.quality]).toEqual(['estimate', 'estimate'])
  expect(third).toMatchObject({ input: { tokens: 9, quality: 'tokenizer' }, output: 1 })
  await slow.close()
})

it('estimates what comes while too much waits, says so once, and counts again afterwards', async () => {
  const warned: unknown[] = []
  const log = { warn: (facts: unknown) => void warned.push(facts) }
  const narrow = new TokenCounter({ mostWaiting: 50_000, log })
  const long = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'hello '.repeat(5_000) }] }
  const counts = await Promise.all(Array.from({ length: 10 }, () => narrow.count(long)))
  const qualities = counts.map(({ input }) => input.quality)
  expect(qualities.slice(0, 2)).toEqual(['tokenizer', 'tokenizer'])
  expect(qualities.slice(2)).toEqual(Array(8).fill('estimate'))
  expect(warned).toMatchObject([{ reason: 'too much waits for the thread that counts' }])
  expect((await narrow.count(long)).input.quality).toBe('tokenizer')
  await narrow.close()
})

it('estimates what lies too deep to be looked through, without what lies there', async () => {
  const parameters = { type: 'object', properties: nested(20_000, 'properties') }
  const tool = { type: 'function' as const, function: { name: 'deep', parameters } }
  for (const model of ['gpt-4o', 'claude-x']) {
    const { input } = await counter.count({ model, messages: hello, tools: [tool] })
    expect(input).toMatchObject({ quality: 'estimate' })
    expect(input.tokens).toBeGreaterThan(0)
  }
})

function nested(levels: number, name = 'a'): JsonObject {
  let value: JsonObject = {}
  for (let level = 0; level < levels; level++) value = { [name]: value }
  return value
}
