import { type OnceContext, Sealing } from '#kernel'
import { type BodySeals, bodySeals } from '#kit'

/** Writes values with words of a caller for the store, sealed where that is asked for, and reads them. */
export class Texts {
  readonly #seals: BodySeals

  constructor(context: Pick<OnceContext, 'id' | 'find' | 'use'>) {
    this.#seals = bodySeals(context, () => context.use(Sealing))
  }

  /** The function that writes values of this caller. */
  async writerFor(caller: { user_id?: string | undefined; tenant?: string | undefined }) {
    const seal = await this.#seals.sealFor({ userId: caller.user_id, tenant: caller.tenant })
    return (value: unknown): string => (seal ? seal(JSON.stringify(value)) : JSON.stringify(value))
  }

  /** What was written; undefined for what cannot be opened any more, as after its caller was erased. */
  async read(stored: string): Promise<unknown> {
    const json = await this.#seals.tryOpen(stored)
    return json === undefined ? undefined : JSON.parse(json)
  }
}
