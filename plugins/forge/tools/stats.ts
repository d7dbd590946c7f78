import type { Context } from '#kernel'
import { bucketOf, middleOf } from '#kit'

export interface ToolStats {
  readonly calls: number
  readonly errors: number
  readonly mean_ms: number | null
  readonly p95_ms: number | null
}

type Counters = Awaited<ReturnType<Context<unknown>['store']['counters']>>

/** How often each tool was used, and how long that took. */
export class Uses {
  readonly #counters: Counters

  constructor(counters: Counters) {
    this.#counters = counters
  }

  /** Counts a use of a tool, and whether it fails. */
  async counted<T>(id: string, use: () => Promise<T>): Promise<T> {
    const began = performance.now()
    this.#counters.add(`${id} calls`, 1)
    try {
      return await use()
    } catch (error) {
      this.#counters.add(`${id} errors`, 1)
      throw error
    } finally {
      const ms = Math.max(1, Math.round(performance.now() - began))
      this.#counters.add(`${id} ms`, ms)
      this.#counters.add(`${id} in ${bucketOf(ms)}`, 1)
    }
  }

  of(id: string): ToolStats {
    const [calls, errors, ms] = ['calls', 'errors', 'ms'].map((name) => this.#counters.get(`${id} ${name}`))
    return {
      calls: calls!,
      errors: errors!,
      mean_ms: calls === 0 ? null : ms! / calls!,
      p95_ms: this.#within(id, 0.95),
    }
  }

  forget(id: string): void {
    this.#counters.clear(`${id} `)
  }

  /** The milliseconds within which this share of the uses ended; null while none has. */
  #within(id: string, share: number): number | null {
    const prefix = `${id} in `
    const buckets = this.#counters
      .entries(prefix)
      .map(([name, count]) => [Number(name.slice(prefix.length)), count] as const)
      .sort(([a], [b]) => a - b)
    let left = share * buckets.reduce((sum, [, count]) => sum + count, 0)
    for (const [bucket, count] of buckets) {
      left -= count
      if (left <= 0) return middleOf(bucket)
    }
    return null
  }
}
