import { CallTraced, type Context, type MadeCall, type Outcome, type TraceFinding } from '#kernel'

/** What guards find in calls that the area makes: their traces are made before the calls' outcomes are known. */
export class CallFindings {
  readonly #open = new Map<string, readonly TraceFinding[]>()

  constructor({ on }: Pick<Context<unknown>, 'on'>) {
    on(CallTraced, ({ trace: { id, findings = [] } }) => {
      if (this.#open.has(id)) this.#open.set(id, findings)
    })
  }

  /** Resolves when the call has ended; never rejects. Call it in the turn in which the call was made. */
  async of({ id, outcome }: MadeCall): Promise<{ outcome?: Outcome; findings: readonly TraceFinding[] }> {
    this.#open.set(id, [])
    const ended = await outcome
    const findings = this.#open.get(id) ?? []
    this.#open.delete(id)
    return { ...(ended && { outcome: ended }), findings }
  }
}
