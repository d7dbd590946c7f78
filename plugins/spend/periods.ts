import type { Budget, Cap, CapStanding, Figures } from '#kernel'
import { periodAt } from '#kit'
import { countOf, kindOf, pairOf, unlimited } from './claims.ts'

/** A count that was not compared for so long is compared before it is used. */
const staleMs = 60_000
/** Counts in use are compared so often. */
const everyMs = 30_000
/** How many are compared in one turn, so that calls are not held up. */
const mostAtOnce = 50

/** What is known of the period of a cap that runs. */
interface Known {
  readonly by: string
  readonly cap: Cap
  /** When its count was last compared with the roll-up. */
  readonly at: number
  readonly end: number
  /** Spent in the period before, where it leaves what it has left to this one. */
  readonly before: number | undefined
  isUsed: boolean
}

interface Parts {
  budget(by: string): Budget
  figures(): Figures
}

/**
 * Holds the counts of caps to the roll-up of traces: a count that says less is raised to it. Calls may have cost something
 * before a cap was set, while nothing enforced it, or in a process that was killed before their counts were on disk.
 */
export class Periods {
  readonly #known = new Map<string, Known>()
  readonly #comparing = new Map<string, Promise<void>>()
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Resolves when the counts of these caps are of the period that runs, and were compared a moment ago. */
  async ready(by: string, caps: readonly Cap[]): Promise<void> {
    const now = Date.now()
    for (const cap of caps) {
      const count = nameOf(by, cap)
      const known = this.#known.get(count)
      if (known && now < known.end && now - known.at < staleMs) known.isUsed = true
      else await this.#compare(count, by, cap, true)
    }
  }

  /** What a cap allows in the period that runs, once it is ready. */
  about(by: string, cap: Cap): Pick<CapStanding, 'mostNano' | 'resetsAt'> {
    const { before, end = 0 } = this.#known.get(nameOf(by, cap)) ?? {}
    const carried = before === undefined ? 0 : Math.max(0, cap.mostNano - before)
    return { mostNano: cap.mostNano + carried, resetsAt: end }
  }

  /** Compares counts that were used since they were compared last, and forgets those that are not used any more. */
  async upkeep(): Promise<void> {
    const due = Array.from(this.#known).filter(([, { at }]) => Date.now() - at >= everyMs)
    for (const [count, { isUsed, at }] of due)
      if (!isUsed && Date.now() - at >= staleMs) this.#known.delete(count)
    const used = due.filter(([, { isUsed }]) => isUsed)
    for (const [count, { by, cap }] of used.slice(0, mostAtOnce)) await this.#compare(count, by, cap, false)
  }

  #compare(count: string, by: string, cap: Cap, isUsed: boolean): Promise<void> {
    const running = this.#comparing.get(count)
    if (running) return running
    const comparing = this.#raise(count, by, cap, isUsed).finally(() => this.#comparing.delete(count))
    this.#comparing.set(count, comparing)
    return comparing
  }

  async #raise(count: string, by: string, cap: Cap, isUsed: boolean): Promise<void> {
    const now = Date.now()
    const [kind, { timezone, carriesSince }] = [kindOf(cap), cap]
    const { start, end } = periodAt(now, { kind, timezone })
    const spent = await this.#spent(cap, start)
    const budget = this.#parts.budget(by)
    // The trace of a call is written after its cost was counted, so what is missing here was never counted.
    const [counted, reserved] = await budget.left(pairOf(cap, 0, unlimited))
    const missing = spent - Math.max(0, counted!.used - reserved!.used)
    if (missing > 0) {
      const held = await budget.reserve([pairOf(cap, missing, unlimited)[0]])
      if (held.granted) await budget.settle(held, {})
    }
    const earlier = periodAt(start - 1, { kind, timezone }).start
    const carries = carriesSince !== undefined && earlier >= carriesSince
    const before = carries ? await this.#spent(cap, earlier, start) : undefined
    this.#known.set(count, { by, cap, at: now, end, before, isUsed })
  }

  async #spent({ scope, holder, ownKeys }: Cap, from: number, to?: number): Promise<number> {
    const dimension = scope === 'service' ? 'total' : scope
    const { costNano, ownKeyNano } = await this.#parts.figures().since(dimension, holder, from, to)
    return ownKeys ? costNano : costNano - ownKeyNano
  }
}

/** Names the period of a count, with what it has from the one before. */
const nameOf = (by: string, cap: Cap): string => `${cap.carriesSince ?? ''} ${countOf(by, cap)}`
