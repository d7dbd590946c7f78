import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kernelServices, type Personal, type Token } from '#kernel'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { placesOf } from '../../test/raw-store.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import { SetFiles } from './set-files.ts'

const routes = '/api/modules/trainexport/sets'
const sealedChunk = 65_536 + 16
/** Where a chunk begins on disk. */
const placeOf = (chunk: number) => 32 + chunk * sealedChunk

let folder: string
let upstream: Upstream
let gateway: TestGateway

const dataDir = () => path.join(folder, 'data')
const start = (SERVICE_ENCRYPTION_KEY: string) =>
  startGateway({
    upstream,
    dataDir: dataDir(),
    env: { SERVICE_ENCRYPTION_KEY },
    config: {
      modules: {
        encryptvault: { enabled: true },
        tenantwall: { enabled: true },
        trainexport: { enabled: true, config: { users: 'all', min_score: 0, dedupe: false } },
      },
    },
  })

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-sets-'))
  upstream = await startUpstream()
  upstream.reply({ content: 'It is saffron.', times: Number.POSITIVE_INFINITY })
  gateway = await start('one')
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

/** A user of a tenant of its own that has said so many things. */
async function speaker(name: string, texts: readonly string[]) {
  const { key, userId } = await gateway.signUp(name)
  const { body } = await gateway.api('POST', '/api/modules/tenantwall/tenants', { name, users: [userId] })
  for (const content of texts) {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
    })
    await response.text()
    expect(response.status).toBe(200)
  }
  return { userId, tenant: body.id as string }
}

async function build(user_id: string) {
  const { body } = await gateway.api('POST', routes, { user_id, validation_share: 0 })
  const set = async () => (await gateway.api('GET', `${routes}/${body.id}`)).body
  await expect.poll(async () => (await set()).status, { timeout: 20_000 }).toBe('ready')
  return set()
}

const download = (id: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}${routes}/${id}/download`, {
    headers: { authorization: `Bearer ${gateway.adminKey}`, ...headers },
  })

/** The engine of the gateway that has ended. */
async function changed<T>(change: (engine: Engine) => Promise<T>, passphrase = 'one'): Promise<void> {
  await gateway.close()
  const engine = await openLevel(path.join(dataDir(), 'db'))
  await change(engine)
  await engine.close()
  gateway = await start(passphrase)
}

test('files lie sealed on disk, and are downloaded whole and in ranges, over a restart', async () => {
  const texts = Array.from({ length: 5 }, (_, n) => `turmeric ${`${n}`.repeat(30_000)}`)
  const { userId } = await speaker('ada', texts)
  const set = await build(userId)
  expect(set.counts.train).toBe(5)
  expect(JSON.stringify(set)).not.toContain('sealed:')
  await gateway.close()
  for (const text of ['turmeric', 'saffron']) expect(await placesOf(dataDir(), text)).toEqual([])
  gateway = await start('one')
  const whole = await download(set.id)
  const [text, size] = [await whole.text(), set.files[0].size]
  expect([text.match(/turmeric/g)?.length, text.length, Number(whole.headers.get('content-length'))]).toEqual(
    [5, size, size],
  )
  for (const [from, to] of [
    [0, 0],
    [65_530, 65_545],
    [size - 9, size - 1],
  ] as const) {
    const part = await download(set.id, { range: `bytes=${from}-${to}` })
    expect([part.status, await part.text()]).toEqual([206, text.slice(from, to + 1)])
  }
})

test('a file that was cut or changed on disk is an error, and not a shorter set', async () => {
  const { userId } = await speaker(
    'bob',
    ['x', 'y', 'z'].map((letter) => `${letter} `.repeat(25_000)),
  )
  const { id } = await build(userId)
  const name = `${id}/openai/train`
  let whole = Buffer.alloc(0)
  const put = (...parts: Buffer[]) =>
    changed(async (engine) => {
      const bodies = engine.namespace('plugins').namespace('trainexport').bodies('files')
      whole =
        whole.length > 0 ? whole : Buffer.concat(await Array.fromAsync((await bodies.get(name))!.read()))
      await bodies.write(name, Readable.from(parts))
    })
  await put()
  expect(whole.length).toBeGreaterThan(placeOf(2))
  const refused = await download(id)
  expect([refused.status, await refused.json()]).toMatchObject([
    409,
    { error: { message: expect.stringContaining('altered on disk') } },
  ])
  await put(whole.subarray(0, placeOf(2)))
  expect((await download(id)).status).toBe(409)
  await put(whole.subarray(0, placeOf(1)), Buffer.alloc(sealedChunk), whole.subarray(placeOf(2)))
  const begun = await download(id)
  expect(begun.status).toBe(200)
  await expect(begun.text()).rejects.toThrow()
  await put(whole)
  expect((await (await download(id)).text()).match(/[xyz] /g)!.length).toBeGreaterThan(70_000)
})

test('sealed files are out of reach under another encryption key, and with a tenant that is erased', async () => {
  const { userId, tenant } = await speaker('eve', ['hers'])
  const set = await build(userId)
  const personal = () => gateway.kernel.container.resolve<Personal>(kernelServices.personal)
  await changed(async () => {}, 'two')
  expect((await download(set.id)).status).toBe(409)
  await changed(async () => {})
  expect((await download(set.id)).status).toBe(200)
  const erased = await personal().erase({ kind: 'tenant', id: tenant }, 'request')
  expect(erased).toMatchObject({ trainexport: 1 })
  expect((await gateway.api('GET', `${routes}/${set.id}`)).body).toMatchObject({
    status: 'erased',
    files: [],
  })
})

test.each([true, false])(
  'what is written of a file before a kill is sealed where sets are: %j',
  async (isSealed) => {
    const place = path.join(folder, `killed-${isSealed}`)
    const engine = await openLevel(path.join(place, 'db'))
    const find = <T>(token: Token<T>) => gateway.kernel.service(token)
    const use = <T>(token: Token<T>) => find(token)!
    const files = new SetFiles({ id: 'trainexport', find, use, store: engine })
    const key = isSealed ? await files.newKey() : undefined
    let isHeld = false
    const killed = Promise.withResolvers<void>()
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('cardamom '.repeat(300_000))
      isHeld = true
      await killed.promise
    }
    const written = files.write({ id: 'set_1', ...(key && { key }) }, undefined, endless(), () => {})
    await expect.poll(() => isHeld).toBe(true)
    await engine.close()
    killed.reject(new Error('killed'))
    await expect(written).rejects.toThrow()
    const places = await placesOf(place, 'cardamom')
    expect(places.some((one) => one.includes('parts'))).toBe(!isSealed)
  },
)
