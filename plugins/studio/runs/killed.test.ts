import { afterAll, beforeAll, expect, test } from 'vitest'
import { questionOf } from '../../../test/forge.ts'
import { startThreaded, type ThreadedGateway } from '../../../test/threaded.ts'

let gateway: ThreadedGateway

beforeAll(async () => {
  gateway = await startThreaded(1, {})
})

afterAll(() => gateway.close())

test('a run that is killed in its calls goes on, asks for no answer again that it has, and counts what these cost', async () => {
  const { upstream } = gateway
  for (const script of [{ content: 'yes' }, { hang: true, times: 5 }]) upstream.reply(script)
  const begun = await gateway.api('POST', '/api/studio/experiments/run', {
    variants: [{ model: 'gpt-4o-mini' }, { model: 'gpt-4o' }],
    dataset: { test_inputs: ['A', 'B', 'C'] },
    evaluators: [{ type: 'contains', text: 'yes' }],
    max_cost_usd: 5,
    wait_ms: 0,
  })
  const read = () => gateway.api('GET', `/api/studio/experiments/${begun.id}`)
  await expect.poll(async () => (await read()).progress.done, { timeout: 30_000 }).toBe(1)
  await upstream.received(2)
  const before = (await read()).total_cost_usd
  await gateway.killAndStart()
  await expect.poll(() => upstream.requests.length, { timeout: 30_000 }).toBeGreaterThan(2)
  upstream.reset()
  upstream.reply({ content: 'yes', times: 10 })
  await gateway.killAndStart()
  await expect.poll(async () => (await read()).status, { timeout: 30_000 }).toBe('completed')
  const ended = await read()
  expect(ended.progress).toEqual({ done: 6, total: 6 })
  expect(ended.total_cost_usd).toBeGreaterThan(before)
  expect(upstream.requests.map(questionOf)).toHaveLength(5)
  const answers = await gateway.api('GET', `/api/studio/experiments/${begun.id}/answers`)
  const asked = answers.answers.map(({ variant, input }: Record<string, string>) => `${variant} ${input}`)
  expect(asked).toEqual(['v1 1', 'v2 1', 'v1 2', 'v2 2', 'v1 3', 'v2 3'])
})
