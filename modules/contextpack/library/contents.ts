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

  async write({ user_id: userId, tenant }: CollectionRow, content: Content): Promise<string> {
    const json = JSON.stringify(content)
    const seal = await this.#seals.sealFor({ userId, tenant })
    return seal ? seal(json) : json
  }

  /** Undefined where it cannot be opened any more, such as after its owner was erased. */
  async read({ content }: Pick<DocumentRow, 'content'>): Promise<Content | undefined> {
    const json = await this.#seals.tryOpen(content)
    return json === undefined ? undefined : JSON.parse(json)
  }
}
