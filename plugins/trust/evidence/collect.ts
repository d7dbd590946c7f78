import { createHash } from 'node:crypto'
import type { Signing } from '#kernel'
import { repairedJson } from '#kit'
import type { Collected, LedgerRange, PackRow, Section } from './pack.ts'
import { type Sources, sections } from './sections.ts'

/** Bytes that are written at a time. */
const partBytes = 65_536

/**
 * The contents of a pack as JSON lines: `{"section", "item"}` for each item, in the order of the sections, and at the end
 * `{"manifest", "public_key", "signature"}`. Each line is canonical JSON (RFC 8785), with
 * U+FFFD for half characters, which callers may have sent in names. The manifest has the hash of each section's lines,
 * and the signature is of the manifest's canonical JSON, so no byte of the file can change unnoticed.
 */
export class Collecting {
  readonly #pack: PackRow
  readonly #sources: Sources
  readonly #signing: Signing
  readonly #sections: Section[] = []
  #range: LedgerRange | null = null
  #done: Omit<Collected, 'size_bytes'> | undefined

  constructor(pack: PackRow, sources: Sources, signing: Signing) {
    this.#pack = pack
    this.#sources = sources
    this.#signing = signing
  }

  /** What the file says of itself, once it was read to its end. */
  get done(): Omit<Collected, 'size_bytes'> {
    if (!this.#done) throw new Error('The pack has not been collected yet')
    return this.#done
  }

  async *bytes(): AsyncGenerator<Uint8Array> {
    for (const name of this.#pack.include) yield* this.#section(name)
    yield Buffer.from(await this.#end())
  }

  async *#section(name: Section['name']): AsyncGenerator<Uint8Array> {
    const { date_from, date_to, filters } = this.#pack
    const scope = { from: Date.parse(date_from), to: Date.parse(date_to), filters }
    const hash = createHash('sha256')
    let count = 0
    let text = ''
    const part = (): Uint8Array => {
      const bytes = Buffer.from(text)
      hash.update(bytes)
      text = ''
      return bytes
    }
    for await (const item of sections[name](this.#sources, scope)) {
      if (name === 'ledger') this.#widen(item as { readonly seq: number; readonly hash: string })
      text += lineOf({ section: name, item })
      count += 1
      if (text.length >= partBytes) yield part()
    }
    yield part()
    this.#sections.push({ name, count, sha256: hash.digest('hex') })
  }

  #widen({ seq, hash }: { readonly seq: number; readonly hash: string }): void {
    this.#range = { from_seq: this.#range?.from_seq ?? seq, to_seq: seq, head_hash: hash }
  }

  async #end(): Promise<string> {
    const { id, name, description, framework, date_from, date_to, filters, created_by, created_at } =
      this.#pack
    const event_count = this.#sections.reduce((sum, { count }) => sum + count, 0)
    const found = { event_count, sections: this.#sections, ledger_range: this.#range }
    const pack = { id, name, description, framework, date_from, date_to, filters, created_by, created_at }
    const manifest = { ...pack, ...found }
    const bytes = Buffer.from(repairedJson(manifest))
    const signature = await this.#signing.sign(bytes)
    const key = (await this.#signing.keys()).find(({ id: of }) => of === signature.key_id)!
    this.#done = {
      ...found,
      manifest_sha256: createHash('sha256').update(bytes).digest('hex'),
      signature: { key_id: signature.key_id, signature: signature.signature },
    }
    return lineOf({ manifest, public_key: key.public_key, signature })
  }
}

const lineOf = (line: object): string => `${repairedJson(line)}\n`
