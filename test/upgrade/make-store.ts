import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { startGateway } from '../harness.ts'
import { startUpstream } from '../upstream/index.ts'

/**
 * Makes a store for `upgrade.test.ts`. Copy this file into `test/upgrade` of the older version and run it there:
 * `node test/upgrade/make-store.ts <folder>`. It writes the data folder, and what the older version answered to `<folder>.json`.
 */

const dataDir = path.resolve(process.argv[2] ?? 'made')
await rm(dataDir, { recursive: true, force: true })

/** The test calls with it. */
const importedKey = 'sk-sy-imported-key-of-the-upgrade-test-0123456789'

const upstream = await startUpstream()
const options = {
  dataDir,
  env: { SERVICE_ENCRYPTION_KEY: 'passphrase of the upgrade test' },
  config: {
    providers: {
      openai: { base_url: upstream.baseUrl(), api_key: 'sk-of-the-gateway' },
      mycorp: { type: 'openai', base_url: upstream.baseUrl(), api_key: 'sk-test', models: ['mycorp-*'] },
    },
  },
}
let gateway = await startGateway(options)

async function ok(method: string, at: string, body?: unknown, key?: string) {
  const answer = await gateway.api(method, at, body, key)
  if (answer.status >= 300)
    throw new Error(`${method} ${at}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer
}

const ada = await gateway.signUp('ada')
const bob = await gateway.signUp('bob')
await ok('POST', `/api/auth/users/${ada.userId}/keys`, { key: importedKey, name: 'imported' })
await ok('PUT', '/api/auth/me/providers/openai', { api_key: 'sk-test' }, ada.key)
await ok('PUT', '/api/proxy/routes', {
  routes: [{ match: 'support-bot', provider: 'mycorp', model: 'mycorp-large' }],
})
await gateway.module('outputcap', { enabled: true, config: { default_max_tokens: 77 } })
await ok('POST', '/api/proxy/modules/outputcap/bindings', {
  name: 'docs',
  config: { default_max_tokens: 11 },
  when: { projects: ['docs'] },
})

const traces: string[] = []
for (const [key, model, stream] of [
  [ada.key, 'gpt-4o-mini', false],
  [ada.key, 'gpt-4o-mini', true],
  [importedKey, 'support-bot', false],
  [bob.key, 'mycorp-small', false],
] as const) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: `from ${model}` }] }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  traces.push(response.headers.get('x-trace-id')!)
}
const stored = await ok('POST', '/v1/responses', { model: 'gpt-4o-mini', input: 'Remember this.' }, ada.key)

const facts = async () => ({
  key: ada.key,
  importedKey,
  traces,
  response: stored.body.id as string,
  overview: (await ok('GET', '/api/observe/overview')).body,
  usage: (await ok('GET', '/api/auth/me/usage', undefined, ada.key)).body,
  trace: (await ok('GET', `/api/observe/traces/${traces[0]}`)).body,
  keys: (await ok('GET', '/api/auth/me/keys', undefined, ada.key)).body,
  providers: (await ok('GET', '/api/auth/me/providers', undefined, ada.key)).body,
  routes: (await ok('GET', '/api/proxy/routes')).body,
  binding: (await ok('GET', '/api/proxy/modules/outputcap/bindings/docs')).body,
})

// A second start turns the write-ahead file into a table, so that the store has both.
await gateway.close()
gateway = await startGateway(options)
await gateway.module('keyscope', { when: { projects: ['docs'] } })
await writeFile(`${dataDir}.json`, `${JSON.stringify(await facts(), null, 2)}\n`)
await gateway.close()
await upstream.close()
for (const name of ['staged', 'db/LOCK', 'db/LOG', 'db/LOG.old'])
  await rm(path.join(dataDir, name), { recursive: true, force: true })
