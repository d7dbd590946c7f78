import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Attacked, complies, startAttacked } from '../../../test/attacked.ts'
import { startThreaded, type ThreadedGateway } from '../../../test/threaded.ts'

let attacked: Attacked
let gateway: ThreadedGateway

beforeAll(async () => {
  attacked = await startAttacked()
  gateway = await startThreaded(1, {
    providers: { openai: { base_url: attacked.url, api_key: 'sk-test' } },
  })
})

afterAll(async () => {
  await gateway.close()
  await attacked.close()
})

const atATime = 4

test('a hunt that is killed goes on, repeats no attack that has ended, and keeps to its budget', async () => {
  let answered = 0
  const hangs = new Set([9, 17])
  attacked.behave((attack) => {
    answered += 1
    if (hangs.has(answered)) return { hang: true }
    return complies(attack)
  })
  const { id } = await gateway.api('POST', '/api/redteam/campaigns', {
    name: 'Spring',
    seed: 'spring',
    budget: { max_requests: 60 },
  })
  const options = { generations: 3, population: 8, wait_ms: 0 }
  const begun = await gateway.api('POST', `/api/redteam/campaigns/${id}/hunt`, options)
  expect(begun.status).toBe('hunting')
  const read = () => gateway.api('GET', `/api/redteam/campaigns/${id}`)
  for (const hang of hangs) {
    await expect.poll(() => answered, { timeout: 20_000 }).toBeGreaterThanOrEqual(hang)
    await gateway.killAndStart()
  }
  await expect.poll(async () => (await read()).status, { timeout: 30_000 }).toBe('completed')
  const detail = await read()
  expect(detail).toMatchObject({ total_attacks: 24, coverage: { planned: 24, executed: 24, skipped: 0 } })
  const { attacks } = await gateway.api('GET', `/api/redteam/attacks?campaign_id=${id}&limit=500`)
  const lines = attacks.map((one: { generation: number; payload: string; strategy: string }) =>
    JSON.stringify([one.generation, one.strategy, one.payload]),
  )
  expect(new Set(lines).size).toBe(24)
  // What was under way at a kill was made again, and nothing else.
  expect(attacked.attacks.length).toBeGreaterThan(24)
  expect(attacked.attacks.length).toBeLessThanOrEqual(24 + hangs.size * atATime)
  expect(detail.requests).toBeGreaterThanOrEqual(attacked.attacks.length)
})
