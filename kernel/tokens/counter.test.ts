import { afterEach, expect, it } from 'vitest'
import { TokenCounter } from './counter.ts'

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
