import { generateKeyPairSync, sign } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type License, stateOf } from './license.ts'
import { issueLicense, readLicense } from './license-token.ts'

const pairOf = () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    der: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    key: privateKey,
  }
}

const own = pairOf()
const iat = 1_767_225_600
const granted: License = {
  jti: 'lic_1',
  sub: 'Acme',
  tier: 'pro',
  limits: { users: 5 },
  iat,
  exp: iat + 86_400,
}
const now = new Date((iat + 10) * 1000)

test('a license is read as it was issued, with its key in PEM, on one line, or as Base64', async () => {
  const token = await issueLicense(granted, own.privateKey)
  for (const key of [own.publicKey, own.publicKey.replaceAll('\n', '\\n'), own.der])
    expect(await readLicense(token, key, now)).toEqual({ status: 'active', license: granted })
})

test('it ends by itself, at the second', async () => {
  const token = await issueLicense(granted, own.privateKey)
  const at = (seconds: number) => readLicense(token, own.publicKey, new Date(seconds * 1000))
  expect((await at(granted.exp! - 1)).status).toBe('active')
  expect(await at(granted.exp!)).toMatchObject({
    status: 'expired',
    reason: 'The license expired on 2026-01-02.',
  })
  const { exp: _, ...endless } = granted
  expect(stateOf(endless, new Date('2999-01-01')).status).toBe('active')
})

test('no change of a token passes, wherever it is', async () => {
  const token = await issueLicense(granted, own.privateKey)
  const symbols = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'.split('')
  await fc.assert(
    fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...symbols), async (at, symbol) => {
      const altered = token.slice(0, at) + symbol + token.slice(at + 1)
      const { status, license } = await readLicense(altered, own.publicKey, now)
      // The last symbol of the signature has bits that say nothing.
      if (altered === token || (status === 'active' && at === token.length - 1))
        expect(license).toEqual(granted)
      else expect([status, license]).toEqual(['invalid', undefined])
    }),
    { numRuns: 200 },
  )
})

test('a token of another key, another algorithm or another meaning is none', async () => {
  const foreign = await issueLicense(granted, pairOf().privateKey)
  expect(await readLicense(foreign, own.publicKey, now)).toMatchObject({
    status: 'invalid',
    reason: 'The license key was altered, or it is not signed by license.public_key.',
  })
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const unsigned = `${part({ alg: 'none' })}.${part(granted)}.`
  const signedAs = (payload: unknown) => {
    const text = `${part({ alg: 'EdDSA' })}.${part(payload)}`
    return `${text}.${sign(null, Buffer.from(text), own.key).toString('base64url')}`
  }
  expect((await readLicense(signedAs(granted), own.publicKey, now)).status).toBe('active')
  const others = [unsigned, 'nonsense', '', 'a.b.c', 'x'.repeat(10_000), signedAs('text'), signedAs({})]
  for (const token of [...others, signedAs({ ...granted, tier: 'gold' })])
    expect([token.slice(0, 40), (await readLicense(token, own.publicKey, now)).status]).toEqual([
      token.slice(0, 40),
      'invalid',
    ])
})

test('without a key that verifies it, a license counts for nothing', async () => {
  const token = await issueLicense(granted, own.privateKey)
  const { publicKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  for (const key of [undefined, 'nonsense', rsa.export({ type: 'spki', format: 'pem' }).toString()])
    expect((await readLicense(token, key, now)).status).toBe('unverified')
})
