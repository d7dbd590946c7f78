import { Meter } from '../chain/meter.ts'
import { faultOf, HookFault } from '../hook-fault.ts'
import type { Fault } from './messages.ts'
import { thrownOf } from './thrown.ts'

/** Counts nothing: what failed is told to the other side, which counts. */
export class GuestMeter extends Meter {
  /** What failed and has not been told. */
  readonly faults: Fault[] = []
  readonly #failed = new WeakSet<object>()

  override fail(hook: string, error: unknown): void {
    const fault = error instanceof HookFault ? error : new HookFault(faultOf(error))
    this.faults.push({ hook, thrown: thrownOf(fault) })
    if (typeof error === 'object' && error !== null) this.#failed.add(error)
  }

  /** Whether this was thrown by a hook that failed; what is no error, always was. */
  hasFailed(cause: unknown): boolean {
    return typeof cause === 'object' && cause !== null ? this.#failed.has(cause) : cause !== undefined
  }

  override run(): void {}
  override add(): void {}
  override refuse(): void {}
}
