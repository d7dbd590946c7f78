import { afterEach, expect, it } from 'vitest'
import type { Completion } from '../../../kit/canonical/forms.ts'
import { noUsage } from '../../../kit/canonical/usage.ts'
import { TokenCounter } from './counter.ts'

const counter = new TokenCounter()

afterEach(() => counter.close())

const request = { model: 'asked', messages: [{ role: 'user' as const, content: 'hello world' }] }
const message = { role: 'assistant', content: 'hello world' } as const
const body = (): Completion => ({ choices: [{ index: 0, message, finish_reason: 'stop' }] })
const nothing = (): undefined => undefined

it('says of each answer what it used, by the tokenizer of the model that was asked', async () => {
  const answer = { counted: undefined, chunks: 7 }
  const used = await counter.used(request, [
    { ...answer, model: 'gpt-4o', body },
    { ...answer, model: 'gpt-4o', body: nothing },
    { ...answer, model: 'claude-x', body },
    { ...answer, model: 'claude-x', chunks: undefined, body },
  ])
  expect(used.slice(0, 2)).toEqual([
    { ...noUsage, input: 9, output: 2, source: 'estimated' },
    { ...noUsage, input: 9, output: 7, source: 'estimated' },
  ])
  const input = counter.estimate({ ...request, model: 'claude-x' }).tokens
  const output = counter.estimator('claude-x').countAll(['hello world'])
  expect(used.slice(2)).toEqual([
    { ...noUsage, input, output: 7, source: 'estimated' },
    { ...noUsage, input, output, source: 'estimated' },
  ])
})

it('believes what the provider had counted', async () => {
  const counted = { ...noUsage, input: 50, output: 3, source: 'estimated' } as const
  expect(await counter.used(request, [{ model: 'gpt-4o', counted, chunks: 2, body }])).toEqual([counted])
})

it('estimates what it was counting when it is closed', async () => {
  const used = counter.used(request, [{ model: 'gpt-4o', counted: undefined, chunks: 7, body }])
  await counter.close()
  const input = counter.estimate({ ...request, model: 'gpt-4o' }).tokens
  expect(await used).toEqual([{ ...noUsage, input, output: 7, source: 'estimated' }])
})
