import { Meter } from '../chain/meter.ts'
import { faultOf, HookFault } from '../hook-fault.ts'
import { thrownOf } from '../workers/thrown.ts'
import type { Host } from './guest-calls.ts'
import type { Done } from './protocol.ts'

/** Counts nothing: it passes failures and the module's reports to the other side, which counts. */
export class GuestMeter extends Meter {
  readonly #host: () => Host
  #faults: Done<unknown>['faults'] = []
  readonly #failed = new WeakSet<object>()

  constructor(host: () => Host) {
    super()
    this.#host = host
  }

  override fail(hook: string, error: unknown): void {
    const fault = error instanceof HookFault ? error : new HookFault(faultOf(error))
    this.#faults = [...this.#faults, { hook, thrown: thrownOf(fault) }]
    if (typeof error === 'object' && error !== null) this.#failed.add(error)
  }

  /** The failures that were let pass since the last time it was called. */
  takeFaults(): Done<unknown>['faults'] {
    const faults = this.#faults
    this.#faults = []
    return faults
  }

  /** Whether a failed hook threw this; true of any value that is no error. */
  hasFailed(cause: unknown): boolean {
    return typeof cause === 'object' && cause !== null ? this.#failed.has(cause) : cause !== undefined
  }

  override event(kind: string, detail: string): void {
    this.#host().notify('report', { kind, detail })
  }

  override run(): void {}
  override add(): void {}
  override refuse(): void {}
}
