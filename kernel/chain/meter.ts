import { Deadlines } from '../../kit/work/deadlines.ts'
import { faultOf, HookFault } from '../../kit/work/hook-fault.ts'
import { ModuleCircuit } from './module-circuit.ts'

/** Something a module reported about itself. */
export interface MeterEvent {
  readonly at: string
  readonly kind: string
  readonly detail: string
}

/** The measurements of a meter, as plain data. */
export interface MeterState {
  readonly calls: number
  readonly errors: number
  readonly refusals: number
  readonly hooks: readonly (readonly [
    hook: string,
    sums: { readonly calls: number; readonly totalMs: number },
  ])[]
  readonly histogram: readonly number[]
  /** Newest first. */
  readonly events: readonly MeterEvent[]
}

const ring = 200
/** Bucket i holds durations under 2^(i/2) µs: a factor of 1.41 apart, up to about 11 s. */
const buckets = 48

/** Calls, failures, refusals and time of one module; kept by the kernel, so that no module keeps its own. */
export class Meter {
  readonly circuit: ModuleCircuit
  /** Its hooks that a call awaits. */
  readonly deadlines: Deadlines
  calls = 0
  errors = 0
  refusals = 0
  /** The length of runs that began before is not held against the module, by `performance.now()`: the time was not its own. */
  pardonedAt = Number.NEGATIVE_INFINITY
  /** Called with errors of hooks, which may contain texts of calls; for the author of the module. */
  onFailure: ((hook: string, error: unknown) => void) | undefined
  readonly hooks = new Map<string, { calls: number; totalMs: number }>()
  #histogram = new Uint32Array(buckets)
  #events: MeterEvent[] = []

  constructor(circuit = new ModuleCircuit()) {
    this.circuit = circuit
    this.deadlines = new Deadlines(circuit.limits.timeout)
  }

  /** Adds one run of a hook, which is held against the module when it, or the longest part of it that let nobody else work, was too long. */
  run(hook: string, ms: number, longestMs = ms): void {
    this.add(hook, ms)
    const { budget } = this.circuit.limits
    if (longestMs > budget && performance.now() - ms >= this.pardonedAt) this.#overrun(hook, longestMs)
  }

  /** Adds one run of a hook, however long it took. */
  add(hook: string, ms: number): void {
    this.calls += 1
    const entry = this.hooks.get(hook)
    if (entry) {
      entry.calls += 1
      entry.totalMs += ms
    } else this.hooks.set(hook, { calls: 1, totalMs: ms })
    const bucket = Math.max(0, Math.min(buckets - 1, Math.ceil(2 * Math.log2(ms * 1000 + 1e-9))))
    this.#histogram[bucket]! += 1
  }

  fail(hook: string, error: unknown): void {
    this.errors += 1
    const what = faultOf(error)
    this.onFailure?.(hook, error)
    this.event('failed', `${hook}: ${what}`)
    if (error instanceof HookFault && error.isHeld) return
    this.circuit.failed(hook, this.hooks.get(hook)?.calls ?? 0, what)
  }

  #overrun(hook: string, ms: number): void {
    const { budget } = this.circuit.limits
    this.event('overrun', `${hook}: ${Math.round(ms)} ms`)
    this.circuit.failed(hook, this.hooks.get(hook)?.calls ?? 0, `took more than ${budget} ms`)
  }

  refuse(code: string): void {
    this.refusals += 1
    this.event('refused', code)
  }

  /** Keeps the last 200. */
  event(kind: string, detail: string): void {
    if (this.#events.length === ring) this.#events.shift()
    this.#events.push({ at: new Date().toISOString(), kind, detail })
  }

  /** Newest first. */
  get events(): MeterEvent[] {
    return this.#events.toReversed()
  }

  /** Upper bound of the duration below which this share of runs lay, in microseconds. */
  quantileUs(share: number): number {
    const wanted = Math.ceil(this.calls * share)
    let seen = 0
    for (const [i, count] of this.#histogram.entries()) {
      seen += count
      if (seen >= wanted && seen > 0) return Math.round(2 ** (i / 2) * 10) / 10
    }
    return 0
  }

  get state(): MeterState {
    const { calls, errors, refusals, events } = this
    return { calls, errors, refusals, events, hooks: [...this.hooks], histogram: [...this.#histogram] }
  }

  /** Adds what another meter has measured. */
  include({ calls, errors, refusals, hooks, histogram, events }: MeterState): void {
    this.calls += calls
    this.errors += errors
    this.refusals += refusals
    for (const [hook, sums] of hooks) {
      const own = this.hooks.get(hook) ?? { calls: 0, totalMs: 0 }
      this.hooks.set(hook, { calls: own.calls + sums.calls, totalMs: own.totalMs + sums.totalMs })
    }
    for (const [at, count] of histogram.entries()) this.#histogram[at]! += count
    const all = [...this.#events, ...events.toReversed()]
    this.#events = all.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).slice(-ring)
  }

  reset(): void {
    this.calls = 0
    this.errors = 0
    this.refusals = 0
    this.hooks.clear()
    this.#histogram.fill(0)
    this.#events = []
  }
}
