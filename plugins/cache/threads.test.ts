import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'
/** So many fresh connections go to both threads, but for one time in a million. */
const enough = 24

let folder: string
let upstream: Upstream
let gateway: GatewayProcess

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-cache-'))
  upstream = await startUpstream()
  const settings = {
    admin_key: adminKey,
    server: { threads: 2 },
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
    modules: { cachelayer: { enabled: true } },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(settings))
  gateway = await startProcess({}, folder)
})

afterAll(async () => {
  await gateway.end('SIGKILL')
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

const headers = {
  authorization: `Bearer ${adminKey}`,
  'content-type': 'application/json',
  connection: 'close',
}

/** The texts of as many answers to one question, asked in both threads. */
async function answers(model: string): Promise<Set<string>> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })
  const ask = async (): Promise<string> => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })
    // biome-ignore lint/suspicious/noExplicitAny: the text is all that counts
    return ((await answer.json()) as any).choices[0].message.content
  }
  return new Set(await Promise.all(Array.from({ length: enough }, ask)))
}

const manage = async (method: string, at: string) =>
  // biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes
  (await (await fetch(gateway.url + at, { method, headers })).json()) as any

test('after clearing, no thread answers from what it held, in memory or in the store', async () => {
  const models = ['gpt-4o', 'gpt-4o-mini'] as const
  const all = async () => Promise.all(models.map(answers))
  const fill = async (content: string) => {
    upstream.reset()
    for (let n = 0; n < 2 * enough; n += 1) upstream.reply({ content })
    return all()
  }
  expect(await fill('one')).toEqual([new Set(['one']), new Set(['one'])])
  // Some lie in the store, some in the memory of each thread.
  expect((await manage('GET', '/api/cache')).total).toBe(2)
  expect(await fill('two')).toEqual([new Set(['one']), new Set(['one'])])

  expect((await manage('DELETE', '/api/cache?model=gpt-4o')).entries).toBe(1)
  expect(await fill('three')).toEqual([new Set(['three']), new Set(['one'])])
  expect((await manage('DELETE', '/api/cache')).entries).toBe(2)
  expect(await fill('four')).toEqual([new Set(['four']), new Set(['four'])])
  expect(await manage('GET', '/api/cache/stats')).toMatchObject({ enabled: true })
})
