import { hkdfSync, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AesSecrets } from './aes-secrets.ts'

const codeOf = (action: () => unknown) => {
  try {
    action()
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error
  }
  return undefined
}

describe('AesSecrets', () => {
  const secrets = new AesSecrets(randomBytes(32))

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
    const sealed = new AesSecrets(randomBytes(32)).encrypt('provider-key')
    expect(codeOf(() => secrets.decrypt(sealed))).toBe('SECRET_UNREADABLE')
    expect(() => secrets.decrypt(sealed)).toThrow(/SERVICE_ENCRYPTION_KEY/)
    expect(() => secrets.decrypt(sealed)).not.toThrow(sealed.slice(4))
  })

  it('reads values of a former key and encrypts under the present one', () => {
    const former = randomBytes(32)
    const both = new AesSecrets(randomBytes(32), former)
    expect(both.decrypt(new AesSecrets(former).encrypt('old'))).toBe('old')
    expect(codeOf(() => new AesSecrets(former).decrypt(both.encrypt('new')))).toBe('SECRET_UNREADABLE')
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
  const root = new AesSecrets(randomBytes(32))
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
    ['another root', () => new AesSecrets(randomBytes(32)).derive('vault', salt)],
  ])('are closed to %s', (_, other) => {
    const sealed = root.derive('vault', salt).encrypt('x')
    expect(codeOf(() => other().decrypt(sealed))).toBe('SECRET_UNREADABLE')
  })

  it('read what was encrypted before the root had a passphrase', () => {
    const former = randomBytes(32)
    const sealed = new AesSecrets(former).derive('vault', salt).encrypt('old')
    expect(new AesSecrets(randomBytes(32), former).derive('vault', salt).decrypt(sealed)).toBe('old')
  })

  it('name a text the same each time, and under each key that there was', () => {
    const former = randomBytes(32)
    const [name, ...others] = new AesSecrets(former).names('a session')
    expect([name?.length, others]).toEqual([43, []])
    const [fresh, old] = new AesSecrets(randomBytes(32), former).names('a session')
    expect([old, fresh === name]).toEqual([name, false])
    expect(new AesSecrets(former).derive('other').names('a session')).not.toContain(name)
  })

  it('derive their key in the one way that keeps what is stored readable', () => {
    const key = randomBytes(32)
    const derived = hkdfSync('sha256', key, salt, 'switchyard vault', 32)
    const stored = new AesSecrets(new Uint8Array(derived)).encrypt('stored')
    expect(new AesSecrets(key).derive('vault', salt).decrypt(stored)).toBe('stored')
  })
})
