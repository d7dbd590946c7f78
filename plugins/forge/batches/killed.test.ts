import { afterAll, beforeAll, expect, test } from 'vitest'
import { llm, questionOf } from '../../../test/forge.ts'
import { startThreaded, type ThreadedGateway } from '../../../test/threaded.ts'

const count = 60
const concurrency = 4
const kills = 2

let gateway: ThreadedGateway

beforeAll(async () => {
  gateway = await startThreaded(2, {})
})

afterAll(() => gateway.close())

const at = '/api/forge/batch'
const ends = (id: string) =>
  expect
    .poll(async () => (await gateway.api('GET', `${at}/${id}`)).status, { timeout: 60_000 })
    .toBe('completed')

test('a batch that is killed goes on: each item has one result, and only what was under way is asked again', async () => {
  const { upstream } = gateway
  upstream.reply({ content: 'A label.', delayMs: 20, times: Number.POSITIVE_INFINITY })
  const input = Array.from({ length: count }, (_, n) => ({ messages: [{ role: 'user', content: `${n}` }] }))
  const begun = await gateway.api('POST', at, { model: 'gpt-4o-mini', input, concurrency })
  expect(begun.error).toBeNull()
  for (let kill = 1; kill <= kills; kill += 1) {
    await upstream.received(kill * 15)
    await gateway.killAndStart()
  }
  await ends(begun.id)
  const { items } = await gateway.api('GET', `${at}/${begun.id}/items?limit=500`)
  expect(items.map(({ index }: { index: number }) => index)).toEqual(input.map((_, n) => n))
  const wrong = items.filter(
    ({ status, response }: { status: string; response: { choices: { message: { content: string } }[] } }) =>
      status !== 'succeeded' || response.choices[0]!.message.content !== 'A label.',
  )
  expect(wrong).toEqual([])
  const { counts, cost_usd } = await gateway.api('GET', `${at}/${begun.id}`)
  expect(counts).toEqual({ total: count, succeeded: count, failed: 0, pending: 0 })
  const sum = items.reduce((sum: number, item: { cost_usd: number }) => sum + item.cost_usd, 0)
  expect(cost_usd).toBeCloseTo(sum, 9)
  const asked = upstream.requests.map(questionOf)
  expect(new Set(asked).size).toBe(count)
  expect(asked.length).toBeLessThanOrEqual(count + kills * concurrency)
})

test('a run of a killed batch goes on where it was, and is no other run', async () => {
  const { upstream } = gateway
  upstream.reset()
  upstream.reply({ content: 'the plan' })
  upstream.reply({ hang: true })
  upstream.reply({ content: 'the end' })
  const steps = [llm('plan', 'Plan'), llm('end', 'End {{plan.output}}')]
  await gateway.api('POST', '/api/forge/workflows', { name: 'letter', steps })
  const begun = await gateway.api('POST', at, { type: 'workflow', workflow: 'letter', input: [{}] })
  await upstream.received(2)
  await gateway.killAndStart()
  await ends(begun.id)
  const { items } = await gateway.api('GET', `${at}/${begun.id}/items`)
  expect(items).toMatchObject([{ status: 'succeeded', response: 'the end' }])
  expect((await gateway.api('GET', '/api/forge/runs')).total).toBe(1)
  expect(upstream.requests.map(questionOf)).toEqual(['Plan', 'End the plan', 'End the plan'])
})

test('a batch whose job an admin cancels is cancelled, from whichever thread, also where the process dies at once', async () => {
  const { upstream } = gateway
  upstream.reset()
  upstream.reply({ hang: true, times: Number.POSITIVE_INFINITY })
  const begin = async (): Promise<string> => {
    const input = [{ messages: [{ role: 'user', content: 'Hello' }] }]
    return (await gateway.api('POST', at, { model: 'gpt-4o-mini', input })).id
  }
  const cancel = (id: string) =>
    gateway.api('POST', `/api/jobs/${encodeURIComponent(`forge.batch:${id}.1`)}/cancel`)
  const stands = async (id: string) => (await gateway.api('GET', `${at}/${id}`)).status
  for (let n = 1; n <= 4; n += 1) {
    const id = await begin()
    expect(await cancel(id)).toMatchObject({ status: 'cancelled' })
    await expect.poll(() => stands(id)).toBe('cancelled')
  }
  const last = await begin()
  await cancel(last)
  await gateway.killAndStart()
  await expect.poll(() => stands(last)).toBe('cancelled')
})
