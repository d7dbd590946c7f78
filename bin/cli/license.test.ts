import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../../test/commands.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-license-'))
})

afterAll(() => rm(folder, { recursive: true }))

const run = (...args: string[]) => runHere(folder, {}, 'license', ...args)
const issue = (...args: string[]) => run('issue', '--key', 'key.pem', '--to', 'Acme', ...args)

let publicKey: string

test('keys makes a private key that only its owner reads, and never overwrites one', async () => {
  const { code, out } = await run('keys', 'key.pem', '--json')
  publicKey = JSON.parse(out).public_key
  expect([code, publicKey.length]).toEqual([0, 60])
  const file = path.join(folder, 'key.pem')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const before = await readFile(file, 'utf8')
  expect((await run('keys', 'key.pem')).code).toBe(64)
  expect(await readFile(file, 'utf8')).toBe(before)
})

test('what issue prints is a license that check and a gateway’s configuration accept', async () => {
  const token = (
    await issue('--tier', 'pro', '--days', '30', '--requests', '1000', '--users', '5')
  ).out.trim()
  const checked = await run('check', token, '--public-key', publicKey, '--json')
  expect(checked.code).toBe(0)
  expect(JSON.parse(checked.out)).toMatchObject({
    status: 'active',
    licensee: 'Acme',
    tier: 'pro',
    limits: { requests_per_month: 1000, users: 5 },
  })
  expect((await run('check', `${token.slice(0, -10)}AAAAAAAAAA`, '--public-key', publicKey)).code).toBe(65)
  const endless = (await issue('--tier', 'enterprise')).out.trim()
  expect((await run('check', endless, '--public-key', publicKey)).out).toBe(
    'Valid: enterprise for Acme, without an end.\n',
  )
  const unverified = await runHere(folder, { SERVICE_LICENSE_KEY: endless }, 'license', 'check')
  expect([unverified.code, unverified.err]).toEqual([65, expect.stringContaining('license.public_key')])
})

test('wrong options are named', async () => {
  expect(await issue('--tier', 'gold')).toMatchObject({ code: 64, err: expect.stringContaining('--tier') })
  expect(await issue('--tier', 'pro', '--days', 'many')).toMatchObject({ code: 64 })
  expect(await run('issue', '--key', 'none.pem', '--to', 'Acme', '--tier', 'pro')).toMatchObject({ code: 65 })
  expect(await run('check')).toMatchObject({ code: 64, err: expect.stringContaining('SERVICE_LICENSE_KEY') })
})
