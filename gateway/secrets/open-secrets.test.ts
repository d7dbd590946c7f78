import { randomBytes, scryptSync } from 'node:crypto'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { AesSecrets } from './aes-secrets.ts'
import { openSecrets } from './open-secrets.ts'

const codeOf = (action: () => unknown) => {
  try {
    action()
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error
  }
  return undefined
}

describe('openSecrets', () => {
  let dataDir = ''
  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'secrets-'))
  })
  afterEach(async () => {
    await rm(dataDir, { recursive: true, force: true })
  })
  const inSecrets = (name = '') => path.join(dataDir, 'secrets', name)

  /** Waits until a start has begun to write, or is over. */
  async function begun(started: Promise<AesSecrets>): Promise<void> {
    let isOver = false
    const end = (): void => {
      isOver = true
    }
    started.then(end, end)
    while (!isOver && readdirSync(inSecrets()).length === 0) await nextTurn()
  }

  it('makes a 32-byte key at the first start that the next start uses', async () => {
    const sealed = (await openSecrets({ dataDir })).encrypt('provider-key')
    expect(Buffer.from(await readFile(inSecrets('encryption.key'), 'utf8'), 'base64')).toHaveLength(32)
    expect((await openSecrets({ dataDir })).decrypt(sealed)).toBe('provider-key')
  })

  it('keeps folder and key to the owner and leaves no drafts', async () => {
    await openSecrets({ dataDir })
    expect((await stat(inSecrets())).mode & 0o777).toBe(0o700)
    expect((await stat(inSecrets('encryption.key'))).mode & 0o777).toBe(0o600)
    expect(await readdir(inSecrets())).toEqual(['encryption.key'])
  })

  it('gives starts that race one and the same key', async () => {
    const starts = await Promise.all(Array.from({ length: 20 }, () => openSecrets({ dataDir })))
    const sealed = starts.map((secrets) => secrets.encrypt('x'))
    for (const secrets of starts) for (const text of sealed) expect(secrets.decrypt(text)).toBe('x')
    expect(await readdir(inSecrets())).toEqual(['encryption.key'])
  })

  it('takes the key of a start that was faster, and leaves it as it is', async () => {
    await mkdir(inSecrets())
    const started = openSecrets({ dataDir })
    await begun(started)
    const first = randomBytes(32)
    writeFileSync(inSecrets('encryption.key'), first.toString('base64'))
    const sealed = (await started).encrypt('x')
    expect(new AesSecrets(first).decrypt(sealed)).toBe('x')
    expect(await readFile(inSecrets('encryption.key'), 'utf8')).toBe(first.toString('base64'))
    expect(await readdir(inSecrets())).toEqual(['encryption.key'])
  })

  it('derives the key from a passphrase and a kept salt', async () => {
    const sealed = (await openSecrets({ dataDir, passphrase: 'correct horse' })).encrypt('provider-key')
    expect((await openSecrets({ dataDir, passphrase: 'correct horse' })).decrypt(sealed)).toBe('provider-key')
    expect(await readdir(inSecrets())).toEqual(['encryption.salt'])
  })

  it('refuses what another passphrase encrypted', async () => {
    const sealed = (await openSecrets({ dataDir, passphrase: 'one' })).encrypt('provider-key')
    const other = await openSecrets({ dataDir, passphrase: 'two' })
    expect(codeOf(() => other.decrypt(sealed))).toBe('SECRET_UNREADABLE')
    const none = await openSecrets({ dataDir })
    expect(codeOf(() => none.decrypt(sealed))).toBe('SECRET_UNREADABLE')
  })

  it('gives one passphrase different keys in different data folders', async () => {
    const here = await openSecrets({ dataDir, passphrase: 'one' })
    const there = await openSecrets({ dataDir: path.join(dataDir, 'other'), passphrase: 'one' })
    expect(codeOf(() => there.decrypt(here.encrypt('x')))).toBe('SECRET_UNREADABLE')
  })

  it('still reads what the generated key encrypted once a passphrase is set', async () => {
    const sealed = (await openSecrets({ dataDir })).encrypt('provider-key')
    expect((await openSecrets({ dataDir, passphrase: 'later' })).decrypt(sealed)).toBe('provider-key')
  })

  it('derives the key in the one way that keeps what is stored readable', async () => {
    const salt = randomBytes(32)
    await mkdir(inSecrets())
    await writeFile(inSecrets('encryption.salt'), `${salt.toString('base64')}\n`)
    const key = scryptSync('c\u00e1se', salt, 32, { N: 32_768, r: 8, p: 3, maxmem: 2 ** 26 })
    const stored = new AesSecrets(key).encrypt('stored')
    // Systems compose letters in two ways, and the passphrase is the same.
    for (const passphrase of ['c\u00e1se', 'ca\u0301se'])
      expect((await openSecrets({ dataDir, passphrase })).decrypt(stored)).toBe('stored')
  })

  it('has the key on the disk, with its name, before anything is encrypted under it', async () => {
    const handle = await open(dataDir)
    const sync = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'sync')
    onTestFinished(() => sync.mockRestore())
    await handle.close()
    await openSecrets({ dataDir })
    expect(sync).toHaveBeenCalledTimes(2)
    await openSecrets({ dataDir })
    expect(sync).toHaveBeenCalledTimes(2)
  })

  it('says that a key cannot be put into place, and leaves nothing', async () => {
    await mkdir(inSecrets())
    const started = openSecrets({ dataDir })
    const failed = expect(started).rejects.toMatchObject({
      name: 'SecretsError',
      code: 'SECRETS_STORAGE',
      message: expect.stringContaining(', link '),
      cause: expect.objectContaining({ code: 'ENOENT', syscall: 'link' }),
    })
    await begun(started)
    for (const name of readdirSync(inSecrets())) rmSync(inSecrets(name))
    await failed
    expect(await readdir(inSecrets())).toEqual([])
  })

  it('does not take a key that it cannot read for one that is not there', async () => {
    await mkdir(inSecrets('encryption.key'), { recursive: true })
    await expect(openSecrets({ dataDir })).rejects.toMatchObject({
      code: 'SECRETS_STORAGE',
      cause: expect.objectContaining({ code: 'EISDIR' }),
    })
  })

  it('refuses a damaged key file instead of replacing it, and names it', async () => {
    await openSecrets({ dataDir })
    await writeFile(inSecrets('encryption.key'), 'short')
    const error = await openSecrets({ dataDir }).catch((thrown: Error) => thrown)
    expect(error).toMatchObject({ code: 'SECRETS_STORAGE' })
    expect((error as Error).message).toMatch(new RegExp(`^${inSecrets('encryption.key')} is damaged`))
    expect(error).not.toHaveProperty('cause')
    expect(await readFile(inSecrets('encryption.key'), 'utf8')).toBe('short')
  })

  it('says why when the folder cannot be made', async () => {
    await writeFile(path.join(dataDir, 'secrets'), 'in the way')
    await expect(openSecrets({ dataDir })).rejects.toMatchObject({ code: 'SECRETS_STORAGE' })
  })
})
