import { hkdfSync, randomBytes, scryptSync } from 'node:crypto'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openSecrets } from './open-secrets.ts'
import { Secrets } from './secrets.ts'

const codeOf = (action: () => unknown) => {
  try {
    action()
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error
  }
  return undefined
}

describe('Secrets', () => {
  const secrets = new Secrets(randomBytes(32))

  it('gives back every text it encrypted', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const sealed = secrets.encrypt(text)
        expect(secrets.isEncrypted(sealed)).toBe(true)
        expect(secrets.decrypt(sealed)).toBe(text)
      }),
    )
  })

  it('writes enc: and the base64 of a 12-byte nonce, the ciphertext and a 16-byte tag', () => {
    const sealed = secrets.encrypt('provider-key')
    expect(sealed).toMatch(/^enc:[A-Za-z0-9+/]+=*$/)
    expect(Buffer.from(sealed.slice(4), 'base64')).toHaveLength(12 + 'provider-key'.length + 16)
  })

  it('turns equal texts into different ciphertexts', () => {
    const sealed = Array.from({ length: 100 }, () => secrets.encrypt('same'))
    expect(new Set(sealed).size).toBe(100)
    expect(new Set(sealed.map((text) => text.slice(0, 20))).size).toBe(100)
  })

  it('notices a change of any single bit', () => {
    const sealed = Buffer.from(secrets.encrypt('provider-key').slice(4), 'base64')
    fc.assert(
      fc.property(fc.integer({ min: 0, max: sealed.length * 8 - 1 }), (bit) => {
        const altered = Buffer.from(sealed)
        altered[bit >> 3] = (altered[bit >> 3] as number) ^ (1 << (bit & 7))
        expect(codeOf(() => secrets.decrypt(`enc:${altered.toString('base64')}`))).toBe('SECRET_UNREADABLE')
      }),
    )
  })

  it('notices a value that was cut short', () => {
    const sealed = Buffer.from(secrets.encrypt('a longer provider key').slice(4), 'base64')
    const cut = `enc:${sealed.subarray(0, -4).toString('base64')}`
    expect(codeOf(() => secrets.decrypt(cut))).toBe('SECRET_UNREADABLE')
  })

  it('refuses a value of another key with an error that says what to do and holds no secret', () => {
    const sealed = new Secrets(randomBytes(32)).encrypt('provider-key')
    expect(codeOf(() => secrets.decrypt(sealed))).toBe('SECRET_UNREADABLE')
    expect(() => secrets.decrypt(sealed)).toThrow(/SERVICE_ENCRYPTION_KEY/)
    expect(() => secrets.decrypt(sealed)).not.toThrow(sealed.slice(4))
  })

  it('reads values of a former key and encrypts under the present one', () => {
    const former = randomBytes(32)
    const both = new Secrets(randomBytes(32), former)
    expect(both.decrypt(new Secrets(former).encrypt('old'))).toBe('old')
    expect(codeOf(() => new Secrets(former).decrypt(both.encrypt('new')))).toBe('SECRET_UNREADABLE')
  })

  it.each([
    '',
    'sk-plain',
    'enc:',
    'enc:AAAA',
    'enc:not base64 at all, but long enough to be one',
    'ENC:AAAA',
    `key:${Buffer.alloc(40).toString('base64')}`,
    `enc:${Buffer.alloc(40).toString('base64')}\n`,
    `enc:${Buffer.alloc(40).toString('base64').replaceAll('=', '')}`,
  ])('does not take %j for an encrypted value', (text) => {
    expect(secrets.isEncrypted(text)).toBe(false)
    expect(codeOf(() => secrets.decrypt(text))).toBe('SECRET_MALFORMED')
  })
})

describe('secrets of a purpose', () => {
  const root = new Secrets(randomBytes(32))
  const salt = randomBytes(32)

  it('open what they encrypted, made once or made again', () => {
    const sealed = root.derive('vault', salt).encrypt('x')
    expect(root.derive('vault', salt).decrypt(sealed)).toBe('x')
  })

  it.each([
    ['the root', () => root],
    ['another purpose', () => root.derive('vaults', salt)],
    ['another salt', () => root.derive('vault', randomBytes(32))],
    ['no salt', () => root.derive('vault')],
    ['another root', () => new Secrets(randomBytes(32)).derive('vault', salt)],
  ])('are closed to %s', (_, other) => {
    const sealed = root.derive('vault', salt).encrypt('x')
    expect(codeOf(() => other().decrypt(sealed))).toBe('SECRET_UNREADABLE')
  })

  it('read what was encrypted before the root had a passphrase', () => {
    const former = randomBytes(32)
    const sealed = new Secrets(former).derive('vault', salt).encrypt('old')
    expect(new Secrets(randomBytes(32), former).derive('vault', salt).decrypt(sealed)).toBe('old')
  })

  it('name a text the same each time, and under each key that there was', () => {
    const former = randomBytes(32)
    const [name, ...others] = new Secrets(former).names('a session')
    expect([name?.length, others]).toEqual([43, []])
    const [fresh, old] = new Secrets(randomBytes(32), former).names('a session')
    expect([old, fresh === name]).toEqual([name, false])
    expect(new Secrets(former).derive('other').names('a session')).not.toContain(name)
  })

  it('derive their key in the one way that keeps what is stored readable', () => {
    const key = randomBytes(32)
    const derived = hkdfSync('sha256', key, salt, 'switchyard vault', 32)
    const stored = new Secrets(new Uint8Array(derived)).encrypt('stored')
    expect(new Secrets(key).derive('vault', salt).decrypt(stored)).toBe('stored')
  })
})

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
  async function begun(started: Promise<Secrets>): Promise<void> {
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
    expect(new Secrets(first).decrypt(sealed)).toBe('x')
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
    const stored = new Secrets(key).encrypt('stored')
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
