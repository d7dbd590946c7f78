import { createRequire } from 'node:module'
import type { TextRule } from './text-rule.ts'

/** From so many rules on it costs less to ask all of them at once first. */
const fewest = 4
/** An automaton of more rules than this has too many states. */
const most = 100
/** So do repetitions that count this far. */
const longCount = 16

/**
 * Says which of many rules may match in a text, in one pass of one automaton for up to a hundred rules. Rules that would make
 * the automaton large, by repetitions with high counts, always may.
 */
export class Prefilter<R extends TextRule> {
  readonly #always: readonly R[]
  readonly #groups: readonly {
    readonly rules: readonly R[]
    readonly match: (text: string) => number[]
  }[]

  constructor(rules: readonly R[]) {
    const narrow = rules.filter(({ source }) => !countsFar(source))
    const isWorth = narrow.length >= fewest
    this.#always = isWorth ? rules.filter(({ source }) => countsFar(source)) : rules
    this.#groups = isWorth ? chunked(narrow).map((part) => ({ rules: part, match: matcherOf(part) })) : []
  }

  mayMatch(text: string): R[] {
    const found = [...this.#always]
    for (const { rules, match } of this.#groups) for (const index of match(text)) found.push(rules[index]!)
    return found
  }
}

const countsFar = (source: string): boolean =>
  [...source.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].some(([, min, max]) => Number(max || min) >= longCount)

const chunked = <R>(rules: readonly R[]): R[][] =>
  Array.from({ length: Math.ceil(rules.length / most) }, (_, i) => rules.slice(i * most, (i + 1) * most))

/** The engine is loaded with the first set of rules, and an automaton is built with its first text. */
function matcherOf(rules: readonly TextRule[]): (text: string) => number[] {
  const { RE2Set } = createRequire(import.meta.url)('re2js') as typeof import('re2js')
  const set = new RE2Set()
  for (const { source } of rules) set.add(source)
  return (text) => set.match(text)
}
