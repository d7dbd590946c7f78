import type { Call } from '#kernel'

/** What had to be changed of a request, for the caller to know: `a->b`, `-a`. */
export class Changes {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  add(change: string): void {
    const { paramsChanged } = this.#call.trail
    if (!paramsChanged.includes(change)) paramsChanged.push(change)
  }
}
