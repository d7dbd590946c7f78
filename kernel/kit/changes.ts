import type { Call } from '../call.ts'

/** What had to be changed of a request, for the caller to know: `a->b`, `-a`. Each change is told once. */
export class Changes {
  readonly #told: string[]

  constructor({ trail }: Pick<Call, 'trail'>) {
    this.#told = trail.paramsChanged
  }

  add(change: string): void {
    if (!this.#told.includes(change)) this.#told.push(change)
  }
}
