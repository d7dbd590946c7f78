import { type Counters, StoreError } from '../../../../storage/index.ts'
import type { Ask } from './guest-collection.ts'

/** Counters as a module in a worker has them: a copy of their values, whose changes are told. */
export class GuestCounters implements Counters {
  readonly #name: string
  readonly #ask: Ask
  readonly #failed: (error: unknown) => void
  readonly #values: Map<string, number>

  private constructor(name: string, ask: Ask, failed: (error: unknown) => void, values: Map<string, number>) {
    this.#name = name
    this.#failed = failed
    this.#ask = ask
    this.#values = values
  }

  /** `failed` is told of changes that could not be kept. */
  static async load(name: string, ask: Ask, failed: (error: unknown) => void): Promise<GuestCounters> {
    return new GuestCounters(name, ask, failed, new Map((await ask('load')) as [string, number][]))
  }

  add(name: string, amount: number): void {
    this.#keep(name, this.get(name) + amount)
    this.#tell('add', name, amount)
  }

  get(name: string): number {
    return this.#values.get(name) ?? 0
  }

  entries(prefix = ''): Array<[name: string, value: number]> {
    return [...this.#values].filter(([name]) => name.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1))
  }

  set(name: string, value: number): void {
    this.#keep(name, value)
    this.#tell('set', name, value)
  }

  clear(prefix: string): void {
    for (const [name] of this.entries(prefix)) this.#values.delete(name)
    this.#tell('clear', prefix)
  }

  async flush(): Promise<void> {
    await this.#ask('flush')
  }

  #keep(name: string, value: number): void {
    if (!Number.isSafeInteger(value))
      throw new StoreError('AMOUNT_INVALID', `A counter holds safe integers only (${this.#name}).`)
    this.#values.set(name, value)
  }

  #tell(method: string, ...args: readonly unknown[]): void {
    this.#ask(method, ...args).catch(this.#failed)
  }
}
