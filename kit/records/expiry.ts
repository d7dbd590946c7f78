import type { Age } from '../../contract/retention.ts'
import type { Log } from '../../storage/index.ts'
import { daysOf } from './retained.ts'

const dayMs = 86_400_000

/**
 * Deletes the rows of a log, or their bodies only, that are past the age of their project. It remembers how far it has come, so
 * that a sweep reads only rows that have become too old since the one before.
 */
export class Expiry<T extends { readonly project: string }> {
  readonly #log: Pick<Log<T>, 'prune' | 'pruneBodies' | 'erase'>
  readonly #bodiesOnly: boolean
  #of = ''
  /** The time up to which rows of an age have been deleted, by the age in days. */
  #swept = new Map<number, number>()

  constructor(log: Pick<Log<T>, 'prune' | 'pruneBodies' | 'erase'>, { bodiesOnly = false } = {}) {
    this.#log = log
    this.#bodiesOnly = bodiesOnly
  }

  /** Returns how many it has deleted. */
  async sweep(age: Age, now = Date.now()): Promise<number> {
    this.#restartIfOther(age)
    const ages = new Set([age.days, ...Object.values(age.projects)])
    const longest = Math.max(...ages)
    const before = now - longest * dayMs
    let deleted = await (this.#bodiesOnly ? this.#log.pruneBodies(before) : this.#log.prune(before))
    for (const days of ages) if (days < longest) deleted += await this.#sweepShorter(age, days, now)
    return deleted
  }

  async #sweepShorter(age: Age, days: number, now: number): Promise<number> {
    const to = now - days * dayMs
    const from = this.#swept.get(days) ?? Number.NEGATIVE_INFINITY
    const isMeant = ({ project }: T): boolean => daysOf(age, project) === days
    const deleted = await this.#log.erase(isMeant, { from, to, bodiesOnly: this.#bodiesOnly })
    this.#swept.set(days, to)
    return deleted
  }

  #restartIfOther(age: Age): void {
    const of = JSON.stringify(age)
    if (of === this.#of) return
    this.#of = of
    this.#swept = new Map()
  }
}
