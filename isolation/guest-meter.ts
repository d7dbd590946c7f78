import { Meter } from '../kernel/chain/meter.ts'
import { faultOf, HookFault } from '../kit/work/hook-fault.ts'
import { thrownOf } from '../workers/thrown.ts'
import type { Host } from './guest-calls.ts'

/** Counts nothing: it passes failures, refusals and the module's reports to the other side, which counts. */
export class GuestMeter extends Meter {
  readonly #host: () => Host

  constructor(host: () => Host) {
    super()
    this.#host = host
  }

  override fail(hook: string, error: unknown): void {
    const fault = error instanceof HookFault ? error : new HookFault(faultOf(error))
    this.#host().notify('fail', { hook, thrown: thrownOf(fault) })
  }

  override refuse(code: string): void {
    this.#host().notify('refuse', code)
  }

  override event(kind: string, detail: string): void {
    this.#host().notify('report', { kind, detail })
  }

  override run(): void {}
  override add(): void {}
}
