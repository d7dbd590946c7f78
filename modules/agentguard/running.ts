import type { Call, OnceContext } from '#kernel'
import { refusal } from './refusal.ts'
import type { Sessions } from './sessions.ts'

const killed = { bound: 'killed', limit: undefined, used: 0 } as const

/** The calls of sessions that run in this thread, so that killing a session ends them. */
export class Running {
  /** Ends the calls of killed sessions in all threads. */
  readonly endKilled: () => Promise<void>
  readonly #calls = new Map<string, Set<Call>>()

  constructor({ inEachThread }: OnceContext, sessions: Sessions) {
    this.endKilled = inEachThread('end killed', async () => {
      for (const id of (await sessions.killedOf([...this.#calls.keys()])) ?? [])
        for (const { cancel } of this.#calls.get(id) ?? []) cancel.abort(refusal(id, killed))
    })
  }

  add(id: string, call: Call): void {
    const calls = this.#calls.get(id)
    if (calls) calls.add(call)
    else this.#calls.set(id, new Set([call]))
  }

  delete(id: string, call: Call): void {
    const calls = this.#calls.get(id)
    calls?.delete(call)
    if (calls?.size === 0) this.#calls.delete(id)
  }
}
