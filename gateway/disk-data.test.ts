import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openLevel } from '../storage/level.ts'
import { DiskData } from './disk-data.ts'

test('a plugin and its bindings have one folder, which goes with what else is stored of the plugin', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-files-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const engine = await openLevel(path.join(dataDir, 'db'))
  onTestFinished(() => engine.close())
  const files = new DiskData(engine, dataDir)
  const folder = await files.folder({ id: 'tap' })
  expect(await files.folder({ id: 'tap/premium' })).toBe(folder)
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
  await writeFile(path.join(folder, 'calls.jsonl'), '{}\n')
  await files.folder({ id: 'other' })
  expect(await files.erase('tap')).toBe(true)
  expect(await files.erase('tap')).toBe(false)
  expect(await readdir(path.join(dataDir, 'files'))).toEqual(['other'])
})
