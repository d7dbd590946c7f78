import { type CircuitLimits, defaultLimits } from '../../config/circuit-limits.ts'
import type { Manifest } from '../discovery/manifest.ts'

/** Closed lets calls pass, open refuses them, half open lets one through to see. */
export type CircuitState = 'closed' | 'open' | 'half_open'

/** How one hook did since its window began. */
interface Run {
  since: number
  failures: number
  /** Runs of the hook before the window. */
  before: number
}

export type CircuitChange =
  | { readonly to: 'tripped'; readonly reason: string; readonly openMs: number }
  | { readonly to: 'restored'; readonly by: 'probe' | 'operator' }

/** Of a hook's runs in the window, this share must have failed: one caller's odd input does not trip a module. */
const share = 0.5
const longestBackoff = 20

/**
 * Leaves a module out that keeps failing. A hook trips it with so many failures in the window if they are at least
 * half of its runs; after a while one call at a time is let through to see.
 */
export class ModuleCircuit {
  /** The operator's limits, with the manifest's own for the rest. */
  limits: CircuitLimits
  readonly #usual: CircuitLimits
  /** Whether it ever tripped; until then all calls pass. */
  touched = false
  readonly #onChange: (change: CircuitChange) => void
  readonly #hooks = new Map<string, Run>()
  #state: CircuitState = 'closed'
  #reason: string | undefined
  #openedAt = 0
  #openMs = 0
  #probedAt = 0
  #probe: object | undefined

  constructor(limits: CircuitLimits = defaultLimits, onChange: (change: CircuitChange) => void = () => {}) {
    this.limits = limits
    this.#usual = limits
    this.#onChange = onChange
  }

  get state(): CircuitState {
    return this.#state
  }

  /** Why it is left out. */
  get reason(): string | undefined {
    return this.#reason
  }

  /** Until the next probe, in milliseconds. */
  get waitMs(): number {
    return this.#state === 'closed' ? 0 : Math.max(0, this.#openedAt + this.#openMs - performance.now())
  }

  /** Takes note of a failure of a hook which has run so often until now. */
  failed(hook: string, runs: number, what: string): void {
    const now = performance.now()
    if (this.#state === 'half_open' || (this.#state === 'open' && this.waitMs === 0)) {
      this.#open(`${hook}: ${what}`)
      return
    }
    if (this.#state === 'open' || this.limits.failures === 0) return
    let run = this.#hooks.get(hook)
    if (!run || now - run.since > this.limits.window) {
      run = { since: now, failures: 0, before: Math.max(0, runs - 1) }
      this.#hooks.set(hook, run)
    }
    run.failures += 1
    if (run.failures < this.limits.failures || run.failures < share * (runs - run.before)) return
    const seconds = Math.ceil((now - run.since) / 1000)
    this.#open(`${hook}: ${what}, ${run.failures} failures within ${seconds} s`)
  }

  /** Leaves the module out at once, unless its time is not up yet. */
  trip(reason: string): void {
    if (this.waitMs === 0) this.#open(reason)
  }

  /**
   * Whether a call that began then gets the module. A call that began before the trip keeps it, since its request went through
   * already. When the time is up, the call becomes the probe; `watch` receives a callback for the end of the call, and whether
   * it came to its end.
   */
  admits(startedAt: number, watch: (ended: (whole: boolean) => void) => void): boolean {
    if (this.#state === 'closed' || startedAt < this.#openedAt) return true
    const now = performance.now()
    if (this.#state === 'open' && now - this.#openedAt < this.#openMs) return false
    if (this.#state === 'half_open' && now - this.#probedAt < this.limits.timeout * 2) return false
    this.#state = 'half_open'
    this.#probedAt = now
    const probe = {}
    this.#probe = probe
    watch((whole) => {
      if (this.#probe !== probe || this.#state !== 'half_open') return
      if (whole) this.#close('probe')
      else this.#state = 'open'
    })
    return true
  }

  /** Takes a run after the time was up as the probe. */
  succeeded(): void {
    if (this.#state === 'open' && this.waitMs === 0) this.#close('probe')
  }

  /** Gives the module a fresh start, as a new instance deserves. */
  renew(manifest: Manifest): void {
    if (manifest.kind === 'module') {
      const budget = manifest.budget_ms ?? this.#usual.budget
      const timeout = manifest.timeout_ms ?? Math.max(this.#usual.timeout, budget)
      this.limits = { ...this.#usual, budget, timeout }
    }
    if (this.#state !== 'closed') this.#close('operator')
    this.#hooks.clear()
  }

  /** For twice as long where it has not come back since the last time. */
  #open(reason: string): void {
    const { open } = this.limits
    const openMs = this.#state === 'closed' ? open : Math.min(this.#openMs * 2, open * longestBackoff)
    this.#state = 'open'
    this.touched = true
    this.#reason = reason
    this.#openedAt = performance.now()
    this.#openMs = openMs
    this.#probe = undefined
    this.#hooks.clear()
    this.#onChange({ to: 'tripped', reason, openMs })
  }

  #close(by: 'probe' | 'operator'): void {
    this.#state = 'closed'
    this.#reason = undefined
    this.#probe = undefined
    this.#hooks.clear()
    this.#onChange({ to: 'restored', by })
  }
}
