import type { Windows } from '#kernel'
import { atLeast } from './binomial.ts'
import type { Rollout } from './rollout.ts'

export type Arm = 'stable' | 'canary'

/** How one call of a rollout went. */
export interface Result {
  readonly arm: Arm
  readonly failed: boolean
  readonly ms: number
}

/** What one of the two models did within the window. */
export interface ArmFigures {
  readonly calls: number
  readonly failed: number
  readonly error_rate: number | null
  readonly p95_ms: number | null
}

/** A canary within its bounds is taken for one outside of them about once in so many looks. */
const chance = 1e-4
/** Fewer calls of the stable model say too little of it. */
const enough = 20
/** A call in twenty takes longer than the 95th percentile. */
const slowShare = 0.05

/** What is remembered of the stable model, for when it gets no more calls. */
export interface Remembered {
  readonly calls: number
  readonly failed: number
}

/** Compares the two models of one run of a rollout over the last window. */
export class Judge {
  readonly #windows: Windows
  readonly #remembered: Map<string, Remembered>
  readonly #name: string
  readonly #rollout: Rollout

  constructor(windows: Windows, remembered: Map<string, Remembered>, name: string, rollout: Rollout) {
    this.#windows = windows
    this.#remembered = remembered
    this.#name = name
    this.#rollout = rollout
  }

  /** Takes in a result. Returns why the canary is outside of its bounds, if it is. */
  learn({ arm, failed, ms }: Result): string | undefined {
    this.#add(`${arm} calls`, 1)
    if (failed) this.#add(`${arm} failed`, 1)
    else this.#add(`${arm} ms`, ms)
    if (arm === 'stable') {
      this.#stable()
      return undefined
    }
    return failed ? this.#failsMore() : this.#isSlower(ms)
  }

  figures(arm: Arm): ArmFigures {
    const calls = this.#count(`${arm} calls`)
    const failed = this.#count(`${arm} failed`)
    return { calls, failed, error_rate: calls === 0 ? null : failed / calls, p95_ms: this.#p95(arm) ?? null }
  }

  #failsMore(): string | undefined {
    const canary = this.figures('canary')
    const stable = this.#stable()
    // As if there had been one more call that failed and one that did not: few calls prove no rate.
    const rate = (stable.failed + 1) / (stable.calls + 2)
    if (atLeast(canary.failed, canary.calls, rate + this.#rollout.max_error_rate) >= chance) return undefined
    return `${canary.failed} of ${canary.calls} calls failed, and ${stable.failed} of ${stable.calls} of the stable model`
  }

  #stable(): Remembered {
    const { calls, failed } = this.figures('stable')
    const last = this.#remembered.get(this.#name)
    if (calls < enough && last) return last
    const now = { calls, failed }
    if (calls >= enough) this.#remembered.set(this.#name, now)
    return now
  }

  #isSlower(ms: number): string | undefined {
    if (this.#count('stable ms') < enough) return undefined
    const bound = this.#p95('stable')! * this.#rollout.max_latency_ratio
    this.#add('compared', 1)
    if (ms <= bound) return undefined
    this.#add('slow', 1)
    const [slow, compared] = [this.#count('slow'), this.#count('compared')]
    if (atLeast(slow, compared, slowShare) >= chance) return undefined
    return `${slow} of ${compared} calls took longer than ${Math.round(bound)} ms, the bound by the stable model's latency`
  }

  #add(what: string, value: number): void {
    this.#windows.add(`${this.#name} ${what}`, value)
  }

  #count(what: string): number {
    return this.#windows.read(`${this.#name} ${what}`).count
  }

  #p95(arm: Arm): number | undefined {
    return this.#windows.quantile(`${this.#name} ${arm} ms`, 0.95)
  }
}
