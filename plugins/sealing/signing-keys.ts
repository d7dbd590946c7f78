import { createHash, createPrivateKey, generateKeyPair, type KeyObject, sign, verify } from 'node:crypto'
import { promisify } from 'node:util'
import { z } from 'zod'
import type { Collection, Secrets, Signature, Signing, SigningKey, Store } from '#kernel'

const generate = promisify(generateKeyPair)

const keyRow = z.strictObject({
  public_key: z.string(),
  /** PKCS #8 in PEM, encrypted. */
  private_key: z.string(),
  created_at: z.string(),
  retired_at: z.string().optional(),
})
type Row = z.infer<typeof keyRow>

/** Which key signs now, under one id for all. */
const currentRow = z.strictObject({ key: z.string() })
const current = 'current'

/** Ed25519 keys in the store, each private one encrypted under the encryption key. The first is made when it is needed. */
export class SigningKeys implements Signing {
  readonly #store: Store
  readonly #secrets: () => Secrets
  readonly #keys: Collection<Row>
  readonly #current: Collection<z.infer<typeof currentRow>>

  constructor(store: Store, secrets: () => Secrets) {
    this.#store = store
    this.#secrets = secrets
    this.#keys = store.collection('signing_keys', {
      schema: keyRow,
      indexes: { created: ({ created_at }) => created_at },
    })
    this.#current = store.collection('signing', { schema: currentRow })
  }

  async sign(bytes: Uint8Array): Promise<Signature> {
    const id = (await this.#current.get(current))?.key ?? (await this.#replace(undefined)).id
    const row = await this.#keys.get(id)
    const key = createPrivateKey(this.#secrets().decrypt(row!.private_key))
    return { key_id: id, signature: sign(null, bytes, key).toString('base64url') }
  }

  async verify(bytes: Uint8Array, { key_id, signature }: Signature): Promise<boolean> {
    const row = isId(key_id) ? await this.#keys.get(key_id) : undefined
    return row !== undefined && verify(null, bytes, row.public_key, Buffer.from(signature, 'base64url'))
  }

  async keys(): Promise<SigningKey[]> {
    const keys: SigningKey[] = []
    for await (const [id, row] of this.#keys.scan({ index: 'created', reverse: true }))
      keys.push(shown(id, row))
    return keys
  }

  async rotate(): Promise<SigningKey> {
    return this.#replace((await this.#current.get(current))?.key)
  }

  /** Puts a new key in the place of the one that was seen; of several at a time, the first one's key is that of all. */
  async #replace(seen: string | undefined): Promise<SigningKey> {
    const { publicKey, privateKey } = await generate('ed25519')
    const now = new Date().toISOString()
    const fresh = {
      id: thumbprint(publicKey),
      row: {
        public_key: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
        private_key: this.#secrets().encrypt(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
        created_at: now,
      },
    }
    return this.#store.transaction((tx) => {
      const id = tx.get(this.#current, current)?.key
      if (id !== seen && id !== undefined) return shown(id, tx.get(this.#keys, id)!)
      if (id !== undefined) tx.update(this.#keys, id, (row) => row && { ...row, retired_at: now })
      tx.put(this.#keys, fresh.id, fresh.row)
      tx.put(this.#current, current, { key: fresh.id })
      return shown(fresh.id, fresh.row)
    })
  }
}

const isId = (id: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(id)

const shown = (id: string, { private_key: _, ...row }: Row): SigningKey => ({
  id,
  algorithm: 'Ed25519',
  ...row,
})

/** The JWK thumbprint of RFC 7638 with the members of an OKP key (RFC 8037), in their lexical order. */
function thumbprint(key: KeyObject): string {
  const { crv, kty, x } = key.export({ format: 'jwk' })
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url')
}
