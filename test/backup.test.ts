import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runHere } from './commands.ts'
import { adminKey, startGateway, type TestGateway } from './harness.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

let folder: string
let upstream: Upstream
let gateway: TestGateway | undefined
/** The data folder of the machine that is worked on. */
let dataDir: string
let user: { readonly userId: string; readonly key: string }
let trace: string

beforeAll(async () => {
  upstream = await startUpstream()
})

afterAll(() => upstream.close())

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-backup-'))
  dataDir = path.join(folder, 'old-machine')
  await start()
  user = await gateway!.signUp('ada')
  await gateway!.api('PUT', '/api/auth/me/providers/openai', { api_key: 'sk-test' }, user.key)
  await gateway!.module('outputcap', { enabled: true, config: { default_max_tokens: 77 } })
  trace = await call('before')
  return async () => {
    await stop()
    await rm(folder, { recursive: true })
  }
})

/** A provider that takes only the key that the user has stored. */
async function start(): Promise<void> {
  const providers = { openai: { base_url: upstream.baseUrl(), api_key: 'sk-another' } }
  gateway = await startGateway({ dataDir, config: { providers } })
}

async function stop(): Promise<void> {
  await gateway?.close()
  gateway = undefined
}

async function call(content: string): Promise<string> {
  const response = await fetch(`${gateway!.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
  })
  expect([response.status, await response.text()]).toEqual([200, expect.anything()])
  return response.headers.get('x-trace-id')!
}

const command = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
  const SERVICE_PORT = gateway ? new URL(gateway.url).port : '0'
  return runHere(folder, { SERVICE_DATA_DIR: dataDir, SERVICE_ADMIN_KEY: adminKey, SERVICE_PORT }, ...args)
}

async function succeed(...args: string[]): Promise<string> {
  const { code, out, err } = await command(...args)
  expect([code, err]).toEqual([0, ''])
  return out
}

/** Everything that was there before is there, and works. */
async function holds(): Promise<void> {
  expect((await gateway!.api('GET', '/api/auth/me', undefined, user.key)).status).toBe(200)
  expect((await gateway!.api('GET', '/api/proxy/modules/outputcap')).body).toMatchObject({
    enabled: true,
    config: { default_max_tokens: 77 },
  })
  expect((await gateway!.api('GET', `/api/observe/traces/${trace}`)).body.request.messages).toEqual([
    { role: 'user', content: 'before' },
  ])
  // With the user's own key, which had to be decrypted.
  await call('after')
  expect(upstream.last()).toMatchObject({ key: 'sk-test' })
}

const numberOf = async (kind: 'traces'): Promise<number> =>
  (await gateway!.api('GET', `/api/observe/${kind}`)).body.total as number

/** The first commands of a section of the page for operators. */
async function documented(section: string): Promise<string[]> {
  const page = await readFile('docs/operating.md', 'utf8')
  const text = page.split(`\n## ${section}\n`)[1]!
  return /```sh\n([^`]*)```/.exec(text)![1]!.trim().split('\n')
}

/** Does what a line of the page says, in the test's folder and with a gateway in this process. */
async function follow(line: string): Promise<void> {
  const [words, where] = line.replace('/var/backups/', './backups/').split(/\s+# /)
  if (where === 'on the new machine') dataDir = path.join(folder, 'new-machine')
  const [program, ...args] = words!.split(' ')
  if (program === 'switchyard') await succeed(...args)
  else if (program === 'systemctl') {
    const [verb] = args
    if (verb !== 'start') await stop()
    if (verb !== 'stop') await start()
  }
  // What was copied to the other machine lies in its folder already, and the version of this test is the newest.
  else expect(['scp', 'git', 'npm']).toContain(program)
}

describe('as the page for operators says', () => {
  test('a running gateway is backed up, and restored', async () => {
    const lines = await documented('Back up')
    let made = 0
    let isMaking = true
    const calls = async (): Promise<void> => {
      while (isMaking) {
        await call('meanwhile')
        made += 1
      }
    }
    const calling = calls()
    for (const line of lines) await follow(line)
    isMaking = false
    await calling
    await gateway!.module('outputcap', { enabled: false })
    await gateway!.api('DELETE', '/api/auth/me/providers/openai', undefined, user.key)
    const total = await numberOf('traces')
    for (const line of await documented('Restore')) await follow(line)
    const restored = await numberOf('traces')
    expect(restored).toBeGreaterThanOrEqual(1)
    expect(restored).toBeLessThanOrEqual(total)
    const { body } = await gateway!.api('GET', '/api/observe/overview')
    expect(body.total_requests).toBe(restored)
    await holds()
    const [before] = (await readdir(dataDir)).filter((name) => name.startsWith('before-restore-'))
    expect(await readdir(path.join(dataDir, before!))).toContain('db')
    await stop()
    expect(await succeed('doctor', '--json')).toMatch(/"name": "counts",\s*"status": "ok"/)
    expect(made).toBeGreaterThan(0)
  })

  test('it moves to another machine', async () => {
    for (const line of await documented('Move to another machine')) await follow(line)
    expect(dataDir).toContain('new-machine')
    await holds()
  })

  test('it is upgraded, and goes back', async () => {
    for (const line of await documented('Upgrade')) await follow(line)
    await holds()
    const total = await numberOf('traces')
    await stop()
    await succeed('restore', './before-upgrade')
    await start()
    expect(await numberOf('traces')).toBe(total - 1)
    await holds()
  })
})

test('a backup is a data folder that a gateway can run on', async () => {
  await succeed('backup', './copy')
  await stop()
  dataDir = path.join(folder, 'copy')
  await start()
  await holds()
})

test('without the encryption key it says so, and needs the one that is there', async () => {
  expect(await succeed('backup', './copy', '--no-encryption-key')).toContain('does not contain')
  expect(await readdir(path.join(folder, 'copy'))).not.toContain('secrets')
  await stop()
  await succeed('restore', './copy')
  await start()
  await holds()
  await stop()
  dataDir = path.join(folder, 'new-machine')
  await succeed('restore', './copy')
  await start()
  const { body } = await gateway!.api('GET', '/api/auth/me/providers', undefined, user.key)
  expect(body.total).toBe(1)
})

test('what is no backup, is damaged, or would be overwritten is refused, and nothing is changed', async () => {
  const refused = async (...args: string[]): Promise<string> => {
    const { code, out, err } = await command(...args)
    expect([code, out]).toEqual([1, ''])
    return err
  }
  await succeed('backup', './copy')
  expect(await refused('backup', './copy')).toContain('exists already')
  expect(await refused('restore', './copy')).toContain('a gateway runs on')
  expect(await refused('backup', './other', '--url', 'http://127.0.0.1:1')).toContain('127.0.0.1:1')
  await stop()
  expect(await refused('restore', './nothing')).toContain('is not a backup')
  const log = (await readdir(path.join(folder, 'copy', 'db'))).find((name) => /\.(log|ldb)$/.test(name))!
  const file = path.join(folder, 'copy', 'db', log)
  await writeFile(file, (await readFile(file)).fill(0x55, 100, 400))
  expect(await refused('restore', './copy')).toContain('damaged')
  await rm(path.join(folder, 'copy', 'db'), { recursive: true })
  expect(await refused('restore', './copy')).toContain('db/CURRENT is missing')
  expect(await readdir(path.join(folder, 'copy'))).not.toContain('db')
  await start()
  await holds()
})

test('it is asked for only where it can be put, and beside another data folder than the gateway has, not at all', async () => {
  const made = async (): Promise<number> => (await gateway!.api('GET', '/api/backups')).body.total
  const refused = async (why: string, ...args: string[]): Promise<void> => {
    expect(await command('backup', ...args)).toMatchObject({ code: 1, err: expect.stringContaining(why) })
    expect(await made()).toBe(0)
  }
  await writeFile(path.join(folder, 'file'), '')
  await refused('EEXIST', './file/monday')
  await refused('in the data folder', path.join(dataDir, 'monday'))
  await refused('in the data folder', path.join(dataDir, 'db', 'monday'))
  await succeed('backup', path.join(dataDir, 'backups', 'monday'))
  expect(await made()).toBe(1)
  await rename(path.join(dataDir, 'backups', 'monday'), path.join(folder, 'monday'))
  const own = dataDir
  dataDir = path.join(folder, 'other-machine')
  await refused('has another data folder', './copy')
  expect(await command('restore', './monday')).toMatchObject({
    code: 1,
    err: expect.stringContaining('has another data folder'),
  })
  dataDir = own
})

test('one that cannot be moved to its place is deleted', async () => {
  const losing = createServer(async ({ url, headers: { authorization } }, response) => {
    const headers = { authorization: authorization!, 'content-type': 'application/json' }
    const made = await fetch(gateway!.url + url, { method: 'POST', headers, body: '{}' })
    await rm(path.join(folder, 'at'), { recursive: true })
    response.end(await made.text())
  }).listen(0, '127.0.0.1')
  await once(losing, 'listening')
  const { port } = losing.address() as AddressInfo
  const { code, err } = await command('backup', './at/copy', '--url', `http://127.0.0.1:${port}`)
  losing.close()
  expect([code, err]).toEqual([1, expect.stringContaining('ENOENT')])
  expect(await readdir(path.join(dataDir, 'backups'))).toEqual([])
})

test('the API makes, lists and deletes backups for admins alone, one at a time', async () => {
  const { api } = gateway!
  expect((await api('POST', '/api/backups', {}, user.key)).status).toBe(403)
  const both = await Promise.all([api('POST', '/api/backups', {}), api('POST', '/api/backups', {})])
  expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
  const { body: made } = both.find(({ status }) => status === 201)!
  expect(made).toMatchObject({ has_key: true, folder: path.join(dataDir, 'backups', made.id) })
  expect((await api('GET', '/api/backups')).body).toMatchObject({ backups: [{ id: made.id }], total: 1 })
  expect((await api('DELETE', '/api/backups/..%2Fdb')).status).toBe(400)
  expect((await api('DELETE', '/api/backups/none')).status).toBe(404)
  expect((await api('DELETE', `/api/backups/${made.id}`)).body).toEqual({ deleted: true, id: made.id })
  expect((await api('GET', '/api/backups')).body.total).toBe(0)
  await cp(path.join(dataDir, 'secrets'), path.join(dataDir, 'backups'), { recursive: true })
  expect((await api('GET', '/api/backups')).body.total).toBe(0)
})
