import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { type Secrets, SecretsError } from '../../kernel/contract/secrets.ts'

const prefix = 'enc:'
const nonceBytes = 12
const tagBytes = 16

/** Bytes of an AES-256 key. */
export const keyBytes = 32

/** AES-256-GCM under a fresh nonce, written as `enc:` and the base64 of nonce, ciphertext and tag. */
export class AesSecrets implements Secrets {
  /** Encrypts with the first; a value may still be under one of the others. */
  readonly #keys: readonly [KeyObject, ...KeyObject[]]

  constructor(key: Uint8Array, ...former: Uint8Array[]) {
    this.#keys = [createSecretKey(key), ...former.map((bytes) => createSecretKey(bytes))]
  }

  encrypt(text: string): string {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#keys[0], nonce)
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return prefix + sealed.toString('base64')
  }

  decrypt(text: string): string {
    const sealed = unwrap(text)
    if (!sealed) {
      throw new SecretsError('SECRET_MALFORMED', 'This is not an encrypted value: expected enc: and base64.')
    }
    for (const key of this.#keys) {
      const opened = unseal(sealed, key)
      if (opened !== undefined) return opened
    }
    throw new SecretsError(
      'SECRET_UNREADABLE',
      'An encrypted value cannot be read: it was altered, or encrypted under another key. Start with the ' +
        'SERVICE_ENCRYPTION_KEY it was encrypted under (or put back the files of <data_dir>/secrets), or store it anew.',
    )
  }

  isEncrypted(text: string): boolean {
    return unwrap(text) !== undefined
  }

  /** HMAC-SHA-256 under each key. */
  names(text: string): string[] {
    return this.#keys.map((key) => createHmac('sha256', key).update(text).digest('base64url'))
  }

  /** Keys are derived by HKDF-SHA-256 (RFC 5869). */
  derive(purpose: string, salt: Uint8Array = noSalt): AesSecrets {
    const [key, ...former] = this.#keys.map((key) => derivedKey(key, purpose, salt))
    return new AesSecrets(key!, ...former)
  }
}

const noSalt = new Uint8Array(0)

const derivedKey = (key: KeyObject, purpose: string, salt: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', key, salt, `switchyard ${purpose}`, keyBytes))

function unwrap(text: string): Buffer | undefined {
  if (!text.startsWith(prefix)) return undefined
  const base64 = text.slice(prefix.length)
  const sealed = Buffer.from(base64, 'base64')
  return sealed.length >= nonceBytes + tagBytes && sealed.toString('base64') === base64 ? sealed : undefined
}

function unseal(sealed: Buffer, key: KeyObject): string | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  const text = decipher.update(sealed.subarray(nonceBytes, -tagBytes))
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
