import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSecrets } from '../../../kernel/secrets.ts'
import type { Engine } from '../../../storage/index.ts'
import { openLevel } from '../../../storage/level.ts'
import { KeyStore } from './key-store.ts'

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
