import { StoreError } from '../errors.ts'
import type { Counters } from '../index.ts'
import type { Backing } from './backing.ts'
import { prefixRange } from './keys.ts'
import { addUp } from './whole.ts'

const flushMs = 250
/** After values were refused, until they are tried again, in milliseconds. */
const retryMs = 1000

/** Counters in LevelDB: all values in memory, those that changed written every 250 ms in one batch. */
export class LevelCounters implements Counters {
  readonly #backing: Backing
  readonly #path: string
  readonly #prefix: string
  readonly #values = new Map<string, number>()
  readonly #dirty = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(backing: Backing, path: string) {
    this.#backing = backing
    this.#path = path
    this.#prefix = `n/${path}!`
  }

  async load(): Promise<void> {
    for await (const [key, text] of this.#backing.database.iterator(prefixRange(this.#prefix))) {
      const value = Number(text)
      if (Number.isSafeInteger(value)) this.#values.set(key.slice(this.#prefix.length), value)
    }
  }

  add(name: string, amount: number): void {
    checkAmount(amount, this.#path)
    this.set(name, addUp(this.get(name), amount))
  }

  get(name: string): number {
    return this.#values.get(name) ?? 0
  }

  set(name: string, value: number): void {
    this.#backing.gate.check()
    checkAmount(value, this.#path)
    this.#values.set(name, value)
    this.#touch(name)
  }

  entries(prefix = ''): Array<[name: string, value: number]> {
    return sortedEntries(this.#values, prefix)
  }

  delete(name: string): void {
    this.#backing.gate.check()
    if (this.#values.delete(name)) this.#touch(name)
  }

  clear(prefix: string): void {
    this.#backing.gate.check()
    for (const name of this.#values.keys()) if (name.startsWith(prefix)) this.delete(name)
  }

  flush(): Promise<void> {
    return this.#backing.gate.run(async () => {
      await this.write()
      await this.#backing.writer.sync()
    })
  }

  /** Writes the changes, without an fsync. A refused write is tried again. */
  async write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#dirty.size === 0) return
    const names = [...this.#dirty]
    this.#dirty.clear()
    for (const name of names) {
      const value = this.#values.get(name)
      if (value === undefined) this.#backing.writer.delete(this.#prefix + name)
      else this.#backing.writer.put(this.#prefix + name, String(value))
    }
    try {
      await this.#backing.writer.commit(false)
    } catch (error) {
      for (const name of names) this.#dirty.add(name)
      this.#writeIn(retryMs)
      throw error
    }
  }

  /** Writes what changed and leaves the disk alone from then on. The gate must be closed. */
  async close(): Promise<void> {
    await this.write()
  }

  #touch(name: string): void {
    this.#dirty.add(name)
    this.#writeIn(flushMs)
  }

  #writeIn(ms: number): void {
    if (this.#backing.gate.isOpen) this.#timer ??= setTimeout(() => this.#writeInBackground(), ms).unref()
  }

  #writeInBackground(): void {
    this.#timer = undefined
    const { gate, report } = this.#backing
    gate
      .run(() => this.write())
      .catch(() => {
        if (!gate.isOpen) return
        const message =
          'Counters cannot be written. They continue in memory, and are written when the disk accepts them.'
        report({ code: 'STORE_FAILED', part: this.#path, message })
        this.#writeIn(retryMs)
      })
  }
}

/** The counters whose name starts so, sorted by name. Others are neither copied nor sorted. */
export function sortedEntries(values: ReadonlyMap<string, number>, prefix: string): [string, number][] {
  const found: [string, number][] = []
  for (const entry of values) if (entry[0].startsWith(prefix)) found.push(entry)
  return found.sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Throws `AMOUNT_INVALID` for what no counter can hold. */
export function checkAmount(amount: number, path: string): void {
  if (Number.isSafeInteger(amount)) return
  throw new StoreError('AMOUNT_INVALID', `A counter holds safe integers only (${path}).`)
}
