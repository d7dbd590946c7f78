import type { Deliveries } from './deliveries.ts'

/** The deliveries whose bodies name a user. */
export class PersonalDeliveries {
  readonly #deliveries: Deliveries

  constructor(deliveries: Deliveries) {
    this.#deliveries = deliveries
  }

  async count(user: string): Promise<number> {
    let count = 0
    for await (const _ of this.#naming(user)) count += 1
    return count
  }

  /** Deletes them, also those that wait, and returns how many there were. */
  async erase(user: string): Promise<number> {
    let erased = 0
    for await (const id of this.#naming(user)) if (await this.#deliveries.rows.delete(id)) erased += 1
    return erased
  }

  async *#naming(user: string): AsyncIterable<string> {
    for await (const [id, row] of this.#deliveries.rows.scan())
      if (this.#deliveries.bodyOf(row).includes(user)) yield id
  }
}
