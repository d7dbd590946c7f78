import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
  scrypt,
} from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const prefix = 'enc:'
const nonceBytes = 12
const tagBytes = 16
const keyBytes = 32

/** scrypt as OWASP advises it for 32 MB of memory. A change makes everything under a passphrase unreadable. */
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 }
const derive = promisify<string, Buffer, number, typeof cost, Buffer>(scrypt)

export type SecretsErrorCode = 'SECRET_MALFORMED' | 'SECRET_UNREADABLE' | 'SECRETS_STORAGE'

/** What keeps a secret from being read; the message says what to do and never holds any part of it. */
export class SecretsError extends Error {
  readonly code: SecretsErrorCode

  constructor(code: SecretsErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'SecretsError'
    this.code = code
  }
}

export interface SecretsOptions {
  /** The service's data folder; keys and salts live in its subfolder `secrets`. */
  readonly dataDir: string
  /** SERVICE_ENCRYPTION_KEY. Without it, a random key is made at the first start and kept. */
  readonly passphrase?: string | undefined
}

/**
 * Encrypts what must not lie around in the clear: AES-256-GCM under a fresh nonce, written as `enc:` and the
 * base64 of nonce, ciphertext and tag. What was altered, or encrypted under another key, is refused, never garbage.
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
}

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

/**
 * Opens the secrets of a data folder. With a passphrase, the key is derived from it and a kept salt, and values
 * from the time before the passphrase stay readable. Any number of processes may start at once: all get one key.
 * Throws SECRETS_STORAGE when the folder cannot be used or a kept key is damaged.
 */
export async function openSecrets({ dataDir, passphrase }: SecretsOptions): Promise<Secrets> {
  const folder = path.join(dataDir, 'secrets')
  const keyFile = path.join(folder, 'encryption.key')
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if (!passphrase) return new Secrets(await keep(keyFile))
    const salt = await keep(path.join(folder, 'encryption.salt'))
    const key = await derive(passphrase.normalize('NFKC'), salt, keyBytes, cost)
    const generated = await read(keyFile)
    return generated ? new Secrets(key, generated) : new Secrets(key)
  } catch (error) {
    if (error instanceof SecretsError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new SecretsError('SECRETS_STORAGE', `The secrets storage cannot be used: ${reason}`, error)
  }
}

/** The 32 bytes in the file, made and put there by whoever comes first. */
async function keep(file: string): Promise<Buffer> {
  return (await read(file)) ?? (await create(file))
}

async function read(file: string): Promise<Buffer | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === keyBytes) return bytes
  throw new SecretsError(
    'SECRETS_STORAGE',
    `${file} is damaged: expected 32 bytes in base64. Put it back from a backup; if you delete it, what was ` +
      'encrypted under it is lost.',
  )
}

/** Writes aside and links into place: nobody ever reads half a key, and the second of two starts takes the first's. */
async function create(file: string): Promise<Buffer> {
  const draft = `${file}.${randomBytes(8).toString('hex')}`
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(`${randomBytes(keyBytes).toString('base64')}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    await syncFolder(path.dirname(file))
  } finally {
    await rm(draft, { force: true })
  }
  return keep(file)
}

/** Makes a new name durable; a system that cannot open a folder has no such step. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
