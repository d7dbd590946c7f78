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
 * Encrypts texts that must not be stored in the clear. A text that was altered, or encrypted under another key, is refused,
 * never garbage.
 */
export interface Secrets {
  encrypt(text: string): string
  /** The text behind `encrypt`'s result. Throws SECRET_MALFORMED or SECRET_UNREADABLE. */
  decrypt(text: string): string
  /** Whether the text has the encrypted form; says nothing about the key. */
  isEncrypted(text: string): boolean
  /** Names for a text that show nothing of it without the key, the same each time, the present key's first. */
  names(text: string): string[]
  /**
   * Secrets for one purpose, under keys of their own. Only the same purpose and salt open what they encrypt, so deleting a
   * random salt makes it unreadable for good.
   */
  derive(purpose: string, salt?: Uint8Array): Secrets
}
