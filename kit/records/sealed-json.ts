import type { Sealing } from '../../contract/sealing.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { type BodySeals, bodySeals } from './body-seals.ts'

/** Whose a text is. */
export interface TextOwner {
  readonly user_id?: string | undefined
  readonly tenant?: string | undefined
}

/** JSON as it is stored: sealed for its owner where that is asked for. */
export class SealedJson {
  readonly #seals: BodySeals

  /** A plugin hands in its `sealing`, which is asked for only where something is sealed. */
  constructor(context: Pick<Context<unknown>, 'id' | 'find'>, sealing: () => Sealing) {
    this.#seals = bodySeals(context, sealing)
  }

  async write({ user_id: userId, tenant }: TextOwner, value: unknown): Promise<string> {
    const seal = await this.#seals.sealFor({ userId, tenant })
    const json = JSON.stringify(value ?? null)
    return seal ? seal(json) : json
  }

  /** Undefined where it cannot be opened any more, such as under another encryption key. */
  async read(stored: string): Promise<{ readonly value: unknown } | undefined> {
    const json = await this.#seals.tryOpen(stored)
    return json === undefined ? undefined : { value: JSON.parse(json) }
  }
}
