import type { Word } from './words.ts'

/** Something in a text that attacks on models have. */
export interface Signal {
  /** Signals of one kind count once. */
  readonly kind:
    | 'override'
    | 'prompt_fishing'
    | 'role_escape'
    | 'no_limits'
    | 'forged_delimiter'
    | 'new_instructions'
    | 'authority'
    | 'forced_opening'
    | 'concealment'
    | 'exfiltration'
    | 'addressed_model'
    | 'encoded'
    | 'obfuscated'
    | 'hidden_text'
  /** How much it says by itself, from 0 to 1. */
  readonly weight: number
  readonly start: number
  readonly end: number
}

/** From the first to the last of some words. */
export const spanOf = (...words: readonly (Word | undefined)[]): Pick<Signal, 'start' | 'end'> => {
  const there = words.filter((word) => word !== undefined)
  return {
    start: Math.min(...there.map(({ start }) => start)),
    end: Math.max(...there.map(({ end }) => end)),
  }
}
