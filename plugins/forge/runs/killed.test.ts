import { afterAll, beforeAll, expect, test } from 'vitest'
import { llm, questionOf } from '../../../test/forge.ts'
import { startThreaded, type ThreadedGateway } from '../../../test/threaded.ts'

let gateway: ThreadedGateway

beforeAll(async () => {
  gateway = await startThreaded(1, {})
})

afterAll(() => gateway.close())

const steps = [
  llm('plan', 'Plan'),
  {
    id: 'parts',
    type: 'map',
    config: {
      over: '{{input.parts}}',
      step: { type: 'llm', model: 'gpt-4o-mini', prompt: 'Part {{item}} of {{plan.output}}' },
    },
  },
  { id: 'ok', type: 'human', depends_on: ['parts'], config: {} },
  llm('end', 'End {{parts.output}}', { depends_on: ['ok'] }),
]

test('a run that is killed in its calls and while it waits goes on, and asks for no answer again that it has', async () => {
  const { upstream } = gateway
  const made = await gateway.api('POST', '/api/forge/workflows', {
    name: 'letter',
    steps,
    limits: { max_parallel: 1 },
  })
  expect(made.error).toBeUndefined()
  const begun = await gateway.api('POST', '/api/forge/workflows/letter/run', {
    input: { parts: ['a', 'b'] },
    wait_ms: 0,
  })
  const read = () => gateway.api('GET', `/api/forge/runs/${begun.id}`)
  // Two calls are cut off in their middle; what ended before is on disk by then.
  for (const script of [{ hang: true }, { content: 'the plan' }, { hang: true }]) upstream.reply(script)
  for (const content of ['A', 'B', 'done']) upstream.reply({ content })
  for (const call of [1, 3]) {
    await upstream.received(call)
    await gateway.killAndStart()
  }
  await expect.poll(async () => (await read()).status, { timeout: 30_000 }).toBe('waiting_human')
  await gateway.killAndStart()
  await gateway.killAndStart()
  expect((await read()).status).toBe('waiting_human')
  await gateway.api('POST', `/api/forge/runs/${begun.id}/approve`, { step_id: 'ok' })
  await expect.poll(async () => (await read()).status, { timeout: 30_000 }).toBe('completed')
  expect(await read()).toMatchObject({ output: 'done', steps_completed: 4, error: null })
  const [plan, a, b, end] = ['Plan', 'Part a of the plan', 'Part b of the plan', 'End ["A","B"]']
  expect(upstream.requests.map(questionOf)).toEqual([plan, plan, a, a, b, end])
})
