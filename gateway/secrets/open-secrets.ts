import { randomBytes, scrypt } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { SecretsError } from '../../kernel/contract/secrets.ts'
import { AesSecrets, keyBytes } from './aes-secrets.ts'

/** scrypt as OWASP advises it for 32 MB of memory. A change makes everything under a passphrase unreadable. */
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 }
const stretch = promisify<string, Buffer, number, typeof cost, Buffer>(scrypt)

export interface SecretsOptions {
  /** The service's data folder; keys and salts live in its subfolder `secrets`. */
  readonly dataDir: string
  /** SERVICE_ENCRYPTION_KEY. Without it, a random key is made at the first start and kept. */
  readonly passphrase?: string | undefined
}

/**
 * Opens the secrets of a data folder. With a passphrase, the key is derived from it and a kept salt, and values
 * from the time before the passphrase stay readable. Any number of processes may start at once: all get one key.
 * Throws SECRETS_STORAGE when the folder cannot be used or a kept key is damaged.
 */
export async function openSecrets({ dataDir, passphrase }: SecretsOptions): Promise<AesSecrets> {
  const folder = path.join(dataDir, 'secrets')
  const keyFile = path.join(folder, 'encryption.key')
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if (!passphrase) return new AesSecrets(await keep(keyFile))
    const salt = await keep(path.join(folder, 'encryption.salt'))
    const key = await stretch(passphrase.normalize('NFKC'), salt, keyBytes, cost)
    const generated = await read(keyFile)
    return generated ? new AesSecrets(key, generated) : new AesSecrets(key)
  } catch (error) {
    if (error instanceof SecretsError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new SecretsError('SECRETS_STORAGE', `The secrets storage cannot be used: ${reason}`, error)
  }
}

/** The 32 bytes in the file; the first process to come makes them. */
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
    `${file} is damaged: expected 32 bytes in base64. Restore it from a backup; if you delete it, values that were ` +
      'encrypted under it is lost.',
  )
}

/** Writes aside and links into place, so that no process reads half a key and the second of two starts uses the first's. */
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
