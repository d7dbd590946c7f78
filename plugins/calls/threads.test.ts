import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startThreaded, type ThreadedGateway } from '../../test/threaded.ts'

let folder: string
let gateway: ThreadedGateway

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-budget-'))
  await cp(path.resolve('test/fixtures/modules/asker'), path.join(folder, 'asker'), { recursive: true })
  gateway = await startThreaded(2, {
    plugin_dirs: [folder],
    prices: { 'openai/gpt-4o-mini': { input_usd_per_m: 1000, output_usd_per_m: 1000 } },
  })
})

afterAll(async () => {
  await gateway.close()
  await rm(folder, { recursive: true, force: true })
})

const model = 'gpt-4o-mini'

/** The model calls that the module has made itself. */
const asked = (): number =>
  gateway.upstream.requests.filter(({ body }) => JSON.stringify(body).includes('is it?')).length

/** So many fresh connections go to both threads, but for one time in a hundred thousand. */
async function askAll(times = 18): Promise<void> {
  const body = { model, user: 'ask', messages: [{ role: 'user', content: 'Hello' }] }
  const sent = Array.from({ length: times }, () => gateway.chat(body).answer)
  for (const { status } of await Promise.all(sent)) expect(status).toBe(200)
}

test('a module has one budget a day in all threads together', {
  timeout: 120_000,
}, async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }
  gateway.upstream.reply({ content: 'yes', usage, times: 200 })
  await askAll()
  expect(asked()).toBe(2)
  await askAll()
  expect(asked()).toBe(2)
})
