import { joinLogprobs, type LogprobLists } from '../canonical/logprobs.ts'

/** What is known of a text on its way. */
interface Passing {
  /** Characters that left. */
  readonly left: number
  /** Parts that were replaced. */
  readonly replaced: readonly { readonly start: number; readonly end: number }[]
}

/**
 * The log probabilities of a text on its way through a window of detectors. They spell the text out once more, so they leave with
 * the part they came with, or, when something in it was replaced, not at all.
 */
export class HeldLogprobs {
  #waiting: { readonly start: number; readonly end: number; readonly values: unknown }[] = []

  /** The entries for the characters from `start` to `end`. */
  add(start: number, end: number, values: unknown): void {
    this.#waiting.push({ start, end, values })
  }

  /** Those whose text has left as it came; the same object when they are of one part. */
  take({ left, replaced }: Passing): unknown {
    const taken: unknown[] = []
    while (this.#waiting.length > 0 && this.#waiting[0]!.end <= left) {
      const { start, end, values } = this.#waiting.shift()!
      if (!replaced.some((span) => span.start < end && span.end > start)) taken.push(values)
    }
    return taken.length < 2 ? taken[0] : taken.reduce<LogprobLists>(joinLogprobs, {})
  }
}
