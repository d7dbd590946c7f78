import { readable } from '#kit'
import type { Deliveries } from './deliveries.ts'

/** The deliveries whose bodies name a user, or cannot be read. */
export class PersonalDeliveries {
  readonly #deliveries: Deliveries

  constructor(deliveries: Deliveries) {
    this.#deliveries = deliveries
  }

  async count(user: string): Promise<number> {
    let count = 0
    for await (const { isReadable } of this.#naming(user)) if (isReadable) count += 1
    return count
  }

  /**
   * Deletes them, also those that wait, and returns how many there were. What is encrypted under another key may be about anybody,
   * and goes with them.
   */
  async erase(user: string): Promise<number> {
    let erased = 0
    for await (const { id } of this.#naming(user)) if (await this.#deliveries.rows.delete(id)) erased += 1
    return erased
  }

  async *#naming(user: string): AsyncIterable<{ readonly id: string; readonly isReadable: boolean }> {
    for await (const [id, row] of this.#deliveries.rows.scan()) {
      const body = readable(() => this.#deliveries.bodyOf(row))
      if (body?.includes(user) ?? true) yield { id, isReadable: body !== undefined }
    }
  }
}
