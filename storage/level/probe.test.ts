import { link, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hasFullDevice } from '../conformance/full-device.ts'
import { proveWritable } from './probe.ts'

const megabyte = 2 ** 20

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'probe-'))
})

afterEach(() => rm(folder, { recursive: true }))

test('a disk is tried with as much as the write-ahead files have, and two megabytes more, and nothing stays', async () => {
  const kept = path.join(folder, 'kept')
  await writeFile(kept, '')
  // The name that is deleted is one of two.
  await link(kept, path.join(folder, 'probe'))
  await writeFile(path.join(folder, '000004.log'), Buffer.alloc(megabyte))
  await writeFile(path.join(folder, '000007.log'), 'seven b')
  await writeFile(path.join(folder, '000005.ldb'), 'no write-ahead file')
  await proveWritable(folder)
  expect(await readdir(folder)).toEqual(['000004.log', '000005.ldb', '000007.log', 'kept'])
  const { size } = await stat(kept)
  expect(size).toBe(3 * megabyte + 7)
  const bytes = await readFile(kept)
  // What can be compressed, or left out as zeros, would prove less.
  expect(new Set(bytes.subarray(0, 4096)).size).toBeGreaterThan(200)
})

test('a disk without that much room is refused, with how much must be free', async () => {
  const log = path.join(folder, '000004.log')
  await writeFile(log, '')
  // It takes up no room: nothing but its length is written.
  await truncate(log, 2 ** 43 + 1)
  await expect(proveWritable(folder)).rejects.toThrow(/^At least 8388611 MB must be free$/)
  expect(await readdir(folder)).toEqual(['000004.log'])
})

test.skipIf(!hasFullDevice)(
  'a disk that takes no more is refused as it says, and nothing stays',
  async () => {
    await symlink('/dev/full', path.join(folder, 'probe'))
    await expect(proveWritable(folder)).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(await readdir(folder)).toEqual([])
  },
)
