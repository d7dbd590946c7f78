import type { Asked } from '../target/said.ts'
import type { Verdict } from '../verdict/verdict.ts'

/** The target gives no answers: further attacks would say nothing. */
export class TargetFailing extends Error {}

/** Attacks in a row without an answer, before a hunt waits for somebody to look at the target. */
const most = 12

/** Watches whether a target answers at all. */
export class Watch {
  #silent = 0

  /** Throws `TargetFailing` when so many attacks in a row had no answer. */
  saw({ said }: Asked, { detail }: Verdict): void {
    this.#silent = said.kind === 'failed' ? this.#silent + 1 : 0
    if (this.#silent >= most) throw new TargetFailing(detail)
  }
}
