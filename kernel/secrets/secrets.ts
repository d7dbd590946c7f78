import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

const prefix = 'enc:'
const nonceBytes = 12
const tagBytes = 16

/** Bytes of an AES-256 key. */
export const keyBytes = 32

export type SecretsErrorCode = 'SECRET_MALFORMED' | 'SECRET_UNREADABLE' | 'SECRETS_STORAGE'

/** The reason why a secret cannot be read; the message says how to repair it and never holds any part of the secret. */
export class SecretsError extends Error {
  readonly code: SecretsErrorCode

  constructor(code: SecretsErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'SecretsError'
    this.code = code
  }
}

/**
 * Encrypts texts that must not be stored in the clear: AES-256-GCM under a fresh nonce, written as `enc:` and the base64 of
 * nonce, ciphertext and tag. A text that was altered, or encrypted under another key, is refused, never garbage.
 */
export class Secrets {
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

  /** The text behind `encrypt`'s result. Throws SECRET_MALFORMED or SECRET_UNREADABLE. */
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

  /** Whether the text has the encrypted form; says nothing about the key. */
  isEncrypted(text: string): boolean {
    return unwrap(text) !== undefined
  }

  /** Names for a text that show nothing of it without the key, the same each time: HMAC-SHA-256 under each key, the present one's first. */
  names(text: string): string[] {
    return this.#keys.map((key) => createHmac('sha256', key).update(text).digest('base64url'))
  }

  /**
   * Secrets for one purpose, under keys derived by HKDF-SHA-256 (RFC 5869). Only the same purpose and salt open what they
   * encrypt, so deleting a random salt makes it unreadable for good.
   */
  derive(purpose: string, salt: Uint8Array = noSalt): Secrets {
    const [key, ...former] = this.#keys.map((key) => derivedKey(key, purpose, salt))
    return new Secrets(key!, ...former)
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
