import { createHash, randomBytes } from 'node:crypto'
import {
  type Bodies,
  type BodyFacts,
  type Context,
  conflict,
  operator,
  SealedBodies,
  Sealing,
  SecretsError,
  type Transaction,
} from '#kernel'
import { FileAltered, FileSeal, keyBytes, type Readable } from './file-seal.ts'
import { type Form, forms } from './forms.ts'
import { type Part, parts, type SetRow } from './row.ts'

type Keyed = Pick<SetRow, 'id' | 'key'>

/** Which file of a set; without it what waits for its forms. */
export interface Which {
  readonly form: Form
  readonly part: Part
}

/**
 * The files of sets: bodies of the store. Where a module asks for bodies of traces to be sealed, those of a set are sealed under
 * a key of its own, which is sealed for the operator: lines of many callers are in one file, and it goes as a whole.
 */
export class SetFiles {
  readonly #context: Pick<Context<unknown>, 'id' | 'find' | 'use'>
  readonly #bodies: Bodies

  constructor(context: Pick<Context<unknown>, 'id' | 'find' | 'use' | 'store'>) {
    this.#context = context
    this.#bodies = context.store.bodies('files')
  }

  /** A key for the files of a new set, sealed itself; undefined where they are stored as they are. */
  async newKey(): Promise<string | undefined> {
    const { id, find, use } = this.#context
    if (!find(SealedBodies)) return undefined
    const seal = await use(Sealing).sealFor(id, { kind: 'user', id: operator })
    return seal(randomBytes(keyBytes).toString('base64'))
  }

  /** Size and digest are those of `source`, whatever lies on disk; `also` is called in the transaction in which the file appears. */
  async write(
    set: Keyed,
    which: Which | undefined,
    source: AsyncIterable<Uint8Array>,
    also: (transaction: Transaction) => void,
  ): Promise<Pick<BodyFacts, 'size' | 'sha256'>> {
    const name = nameOf(set.id, which)
    const seal = await this.#sealOf(set)
    if (!seal) return this.#bodies.write(name, source, also)
    const digest = createHash('sha256')
    let size = 0
    async function* measured(): AsyncGenerator<Uint8Array> {
      for await (const bytes of source) {
        digest.update(bytes)
        size += bytes.length
        yield bytes
      }
    }
    await this.#bodies.write(name, seal.seal(name, measured()), also)
    return { size, sha256: digest.digest('hex') }
  }

  /** Undefined when there is none. Opening and reading what was altered on disk, or cannot be opened any more, throw a conflict. */
  async get(set: Keyed, which?: Which): Promise<Readable | undefined> {
    const name = nameOf(set.id, which)
    const body = await this.#bodies.get(name)
    const seal = body && (await this.#sealOf(set))
    if (!body || !seal) return body
    const { size, read } = await seal.open(name, body).catch(unreadable)
    return {
      size,
      async *read(from, to) {
        try {
          yield* read(from, to)
        } catch (error) {
          unreadable(error)
        }
      },
    }
  }

  /** Deletes all files of a set, or the one. */
  async delete(id: string, only?: { readonly which: Which | undefined }): Promise<void> {
    const all = [undefined, ...forms.flatMap((form) => parts.map((part) => ({ form, part })))]
    for (const which of only ? [only.which] : all) await this.#bodies.delete(nameOf(id, which))
  }

  async #sealOf({ key }: Keyed): Promise<FileSeal | undefined> {
    if (key === undefined) return undefined
    const { id, use } = this.#context
    const text = await use(Sealing).open(id, key).catch(unreadable)
    return text === undefined ? unreadable() : new FileSeal(Buffer.from(text, 'base64'))
  }
}

function unreadable(cause?: unknown): never {
  if (cause !== undefined && !(cause instanceof FileAltered || cause instanceof SecretsError)) throw cause
  throw conflict(
    'The files of this training set cannot be opened: they were altered on disk, or sealed under a key that is gone. Build the set again.',
    { param: 'id' },
  )
}

const nameOf = (id: string, which: Which | undefined): string =>
  which ? `${id}/${which.form}/${which.part}` : `${id}/all`
