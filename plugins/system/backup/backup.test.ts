import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hashTree } from '../../../gateway/discovery/installed.ts'
import { makeBackup, readBackup } from './backup.ts'

let folder: string
const at = (...names: string[]): string => path.join(folder, ...names)
const put = async (file: string, text = ''): Promise<void> => {
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, text)
}

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-backup-'))
  await put(at('data', 'secrets', 'encryption.key'), 'key')
  await put(at('data', 'catalogue.json'), '{}')
  await put(at('data', 'packages', 'installed.json'), 'first')
  await put(at('data', 'packages', 'pii', '1.0.0', 'node_modules', 'pii', 'index.js'), 'code')
  await put(at('data', 'packages', 'pii', '1.0.0', 'node_modules', 'pii', '.lock'), 'its own')
  await symlink('../pii/index.js', at('data', 'packages', 'pii', '1.0.0', 'node_modules', '.bin'))
  for (const other of [
    'packages/.lock/LOCK',
    'db/CURRENT',
    'staged/a',
    'running.json',
    'backups/b/backup.json',
  ])
    await put(at('data', other))
})

afterEach(() => rm(folder, { recursive: true }))

const options = {
  get dataDir() {
    return at('data')
  },
  copyStore: (to: string) => put(path.join(to, 'CURRENT'), 'store'),
  version: '1.2.3',
  withKey: true,
}

test('everything that is kept is in it, installed packages byte for byte, and nothing of what runs', async () => {
  const note = await makeBackup(at('copy'), options)
  expect((await readdir(at('copy'))).sort()).toEqual([
    'backup.json',
    'catalogue.json',
    'db',
    'packages',
    'secrets',
  ])
  expect((await readdir(at('copy', 'packages'))).sort()).toEqual(['installed.json', 'pii'])
  expect(await hashTree(at('copy', 'packages', 'pii'))).toBe(await hashTree(at('data', 'packages', 'pii')))
  expect(await readFile(at('copy', 'db', 'CURRENT'), 'utf8')).toBe('store')
  expect(await readBackup(at('copy'))).toEqual(note)
  expect(note).toMatchObject({ version: '1.2.3', has_key: true })
})

test('one that fails leaves nothing under its name, nor what it had begun', async () => {
  const copyStore = async (to: string): Promise<void> => {
    await options.copyStore(to)
    throw new Error('the disk is full')
  }
  await expect(makeBackup(at('copy'), { ...options, dataDir: at('data'), copyStore })).rejects.toThrow('full')
  expect(await readdir(folder)).toEqual(['data'])
})
