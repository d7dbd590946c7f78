import { CompactSign, type CryptoKey, compactVerify, errors, importPKCS8, importSPKI } from 'jose'
import { parseForeign } from '#kit'
import { type License, type LicenseState, license, stateOf } from './license.ts'

/** Ed25519 (RFC 8037), and nothing else. */
const algorithm = 'EdDSA'
const longest = 8192

/** Signs a license with an Ed25519 key (PKCS #8 in PEM): the token is a JWT, which every library for those can read. */
export async function issueLicense(granted: License, privateKey: string): Promise<string> {
  const payload = new TextEncoder().encode(JSON.stringify(license.parse(granted)))
  const key = await importPKCS8(privateKey, algorithm)
  return new CompactSign(payload).setProtectedHeader({ alg: algorithm, typ: 'JWT' }).sign(key)
}

/**
 * Reads a license token without a network. Only a signature by this public key (SubjectPublicKeyInfo in PEM, or its Base64
 * alone) makes it valid.
 */
export async function readLicense(
  token: string,
  publicKey: string | undefined,
  now = new Date(),
): Promise<LicenseState> {
  const none = (status: 'invalid' | 'unverified', reason: string) =>
    ({ status, license: undefined, reason }) as const
  if (publicKey === undefined) {
    return none(
      'unverified',
      'There is no license.public_key in service.yaml to verify the license key with.',
    )
  }
  let key: CryptoKey
  try {
    key = await importSPKI(pemOf(publicKey), algorithm)
  } catch {
    return none('unverified', 'license.public_key is not an Ed25519 public key in PEM.')
  }
  try {
    if (token.length > longest) return none('invalid', 'The license key is longer than a license is.')
    const { payload } = await compactVerify(token, key, { algorithms: [algorithm] })
    const found = license.safeParse(parseForeign(new TextDecoder().decode(payload)))
    if (!found.success) return none('invalid', 'The license key is signed, but it is not a license.')
    return stateOf(found.data, now)
  } catch (error) {
    const isForeign = error instanceof errors.JWSSignatureVerificationFailed
    return none(
      'invalid',
      isForeign
        ? 'The license key was altered, or it is not signed by license.public_key.'
        : 'The license key is not a license token.',
    )
  }
}

function pemOf(key: string): string {
  const text = key.trim().replaceAll('\\n', '\n')
  return text.startsWith('-----') ? text : `-----BEGIN PUBLIC KEY-----\n${text}\n-----END PUBLIC KEY-----`
}
