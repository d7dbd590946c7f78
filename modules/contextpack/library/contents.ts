import type { OnceContext } from '#kernel'
import { Sealing } from '#kernel'
import { bodySeals } from '#kit'
import type { CollectionRow, DocumentRow } from './rows.ts'

/** The words of a document. */
export interface Content {
  readonly title: string
  readonly text: string
}

/** Writes the words of documents for the store, sealed for the owner of their collection where that is asked for, and reads them. */
export class Contents {
  readonly #seals: ReturnType<typeof bodySeals>

  constructor(context: Pick<OnceContext, 'id' | 'find' | 'use'>) {
    this.#seals = bodySeals(context, () => context.use(Sealing))
  }

  write(collection: CollectionRow, content: Content): Promise<string> {
    return this.seal(collection, JSON.stringify(content))
  }

  /** JSON as it is to be stored. */
  async seal({ user_id: userId, tenant }: CollectionRow, json: string): Promise<string> {
    const seal = await this.#seals.sealFor({ userId, tenant })
    return seal ? seal(json) : json
  }

  /** Undefined where it cannot be opened any more, such as after its owner was erased. */
  async read({ content }: Pick<DocumentRow, 'content'>): Promise<Content | undefined> {
    const json = await this.open(content)
    return json === undefined ? undefined : JSON.parse(json)
  }

  /** The JSON that was stored. */
  open(stored: string): Promise<string | undefined> {
    return this.#seals.tryOpen(stored)
  }
}
