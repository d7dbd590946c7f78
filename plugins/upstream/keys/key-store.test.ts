import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSecrets } from '../../../gateway/secrets/open-secrets.ts'
import type { Engine, Store } from '../../../storage/index.ts'
import { openLevel } from '../../../storage/level.ts'
import { KeyStore, UnreadableKey } from './key-store.ts'

let folder: string
let engine: Engine
let keys: KeyStore

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-provider-keys-'))
  engine = await openLevel(path.join(folder, 'db'))
  keys = new KeyStore(engine, await openSecrets({ dataDir: folder, passphrase: undefined }))
})

afterEach(async () => {
  await engine.close()
  await rm(folder, { recursive: true })
})

test('a key is the same object for all who ask for it at a time, and after that', async () => {
  await keys.set('usr_1', 'openai', 'sk-one')
  const [first, second] = await Promise.all([keys.find('usr_1', 'openai'), keys.find('usr_1', 'openai')])
  expect(first?.secret).toBe('sk-one')
  expect(second).toBe(first)
  expect(keys.find('usr_1', 'openai')).toBe(first)
})

test('a key that was replaced or deleted while it was read is not remembered', async () => {
  await keys.set('usr_1', 'openai', 'sk-one')
  const reading = keys.find('usr_1', 'openai')
  await keys.set('usr_1', 'openai', 'sk-two')
  await reading
  expect(await keys.find('usr_1', 'openai')).toMatchObject({ secret: 'sk-two' })
  const again = keys.find('usr_1', 'openai')
  await keys.delete('usr_1', 'openai')
  await again
  expect(await keys.find('usr_1', 'openai')).toBeUndefined()
})

/** The engine, whose rows come when they are let. */
function withHeldReads(of: Engine, let_: Promise<void>): Store {
  const collection: Store['collection'] = (name, options) => {
    const rows = of.collection(name, options)
    const get = rows.get.bind(rows)
    rows.get = async (id) => {
      const row = await get(id)
      await let_
      return row
    }
    return rows
  }
  return Object.assign(Object.create(of), { collection })
}

test('a key that was read before a change and comes after it is not remembered', async () => {
  await keys.set('usr_1', 'openai', 'sk-one')
  const later = Promise.withResolvers<void>()
  const secrets = await openSecrets({ dataDir: folder, passphrase: undefined })
  const slow = new KeyStore(withHeldReads(engine, later.promise), secrets)
  const [early, none] = [slow.find('usr_1', 'openai'), slow.find('usr_2', 'openai')]
  await slow.set('usr_1', 'openai', 'sk-two')
  await slow.set('usr_2', 'openai', 'sk-three')
  later.resolve()
  expect([await early, await none]).toMatchObject([{ secret: 'sk-one' }, undefined])
  expect(await slow.find('usr_1', 'openai')).toMatchObject({ secret: 'sk-two' })
  expect(await slow.find('usr_2', 'openai')).toMatchObject({ secret: 'sk-three' })
})

test('a key that was found is asked about anew when it was replaced or deleted', async () => {
  await keys.set('usr_1', 'openai', 'sk-one')
  for (let n = 0; n < 2; n += 1) expect((await keys.find('usr_1', 'openai'))?.secret).toBe('sk-one')
  expect(await keys.find('usr_2', 'openai')).toBeUndefined()
  await keys.set('usr_1', 'openai', 'sk-two')
  await keys.set('usr_2', 'openai', 'sk-three')
  expect((await keys.find('usr_1', 'openai'))?.secret).toBe('sk-two')
  expect((await keys.find('usr_2', 'openai'))?.secret).toBe('sk-three')
  await keys.deleteOf('usr_1')
  expect(await keys.find('usr_1', 'openai')).toBeUndefined()
})

test('a key that cannot be read is invalid and none to call with, until it can be read again', async () => {
  await keys.set('usr_1', 'openai', 'sk-one')
  const checked = (await keys.find('usr_1', 'openai'))!
  await keys.mark('usr_1', 'openai', checked, 'configured')
  const secrets = await openSecrets({ dataDir: folder, passphrase: undefined })
  const others = new KeyStore(engine, secrets.derive('another key'))
  for (let n = 0; n < 2; n += 1)
    await expect(others.find('usr_1', 'openai')).rejects.toBeInstanceOf(UnreadableKey)
  expect([await others.has('usr_1', 'openai'), await keys.has('usr_1', 'openai')]).toEqual([false, true])
  expect(await others.get('usr_1', 'openai')).toMatchObject({ status: 'invalid' })
  expect((await others.list('usr_1', {})).items).toMatchObject([{ status: 'invalid' }])
  expect(await keys.get('usr_1', 'openai')).toMatchObject({ status: 'configured' })
})

test('what a check has shown of a key is not said of the one that took its place', async () => {
  await keys.set('usr_1', 'openai', 'sk-one')
  const checked = (await keys.find('usr_1', 'openai'))!
  await keys.mark('usr_1', 'openai', checked, 'configured')
  const marked = { status: 'configured', last_verified_at: expect.any(String) }
  expect(await keys.get('usr_1', 'openai')).toMatchObject(marked)
  await keys.set('usr_1', 'openai', 'sk-two')
  const fresh = await keys.get('usr_1', 'openai')
  expect(fresh).toMatchObject({ status: 'unverified' })
  expect(fresh).not.toHaveProperty('last_verified_at')
  await keys.mark('usr_1', 'openai', checked, 'invalid')
  expect(await keys.get('usr_1', 'openai')).toEqual(fresh)
  await keys.delete('usr_1', 'openai')
  await keys.mark('usr_1', 'openai', checked, 'configured')
  expect(await keys.get('usr_1', 'openai')).toBeUndefined()
})
