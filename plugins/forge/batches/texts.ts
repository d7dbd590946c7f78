import type { z } from 'zod'
import type { SealedJson } from '#kit'
import type { BatchRow, ItemRow, ItemStatus } from './rows.ts'
import { type resultLine, shownResult } from './shown.ts'
import type { BatchStore } from './store.ts'

/** Items of a page of the store while a file is read. */
const atATime = 100

/** What items say and what was answered, as it is stored and as it is shown. */
export class BatchTexts {
  readonly #json: SealedJson
  readonly #store: BatchStore

  constructor(store: BatchStore, json: SealedJson) {
    this.#store = store
    this.#json = json
  }

  /** A value as it is stored for the owner of a batch. */
  write(
    { principal: { userId: user_id, tenant } }: Pick<BatchRow, 'principal'>,
    value: unknown,
  ): Promise<string> {
    return this.#json.write({ user_id, tenant }, value)
  }

  /** Undefined where there is none, or it cannot be opened any more. */
  async read(item: ItemRow, which: 'input' | 'output'): Promise<{ readonly value: unknown } | undefined> {
    const stored = await this.#store.items.textOf(item, which)
    return stored === undefined ? undefined : this.#json.read(stored)
  }

  async resultOf(item: ItemRow): Promise<z.infer<typeof resultLine>> {
    return shownResult(item, (await this.read(item, 'output'))?.value ?? null)
  }

  /** The results of a batch as lines of JSON, in the order of the inputs: of the items that have ended, or of some of these. */
  async *lines(batch: string, status: Exclude<ItemStatus, 'pending'> | undefined): AsyncGenerator<Buffer> {
    let after: string | undefined
    do {
      const { items, next } = await this.#store.items.page(batch, status, {
        limit: atATime,
        ...(after !== undefined && { after }),
      })
      for (const item of items)
        if (item.status !== 'pending') yield Buffer.from(`${JSON.stringify(await this.resultOf(item))}\n`)
      after = next
    } while (after !== undefined)
  }
}
