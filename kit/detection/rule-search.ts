import type { TextLocation } from '../canonical/text-location.ts'
import { takingTurns } from '../work/turns.ts'
import type { Finder, Finding } from './find-all.ts'
import type { RuleMatch, RuleSet, RuleSpan } from './rule-set.ts'
import type { TextRule } from './text-rule.ts'

/** Characters that are searched at once; for what comes behind them, other work has its turn in between. */
const atOnce = 8192

/** The longer and longer beginnings of a text, and up to where what begins in each does not depend on what follows. */
function* beginnings(text: string, held: number): Iterable<{ part: string; settled: number }> {
  for (let end = atOnce + held; end < text.length; end += atOnce)
    yield { part: text.slice(0, end), settled: end - held }
  yield { part: text, settled: text.length }
}

/** As `find` of a set, from the beginning of a long text. Others have their turn meanwhile. */
export async function findInTurns<R extends TextRule, H>(
  set: RuleSet<R, H>,
  text: string,
  place: TextLocation,
): Promise<RuleSpan<H>[]> {
  const turn = takingTurns()
  const spans: RuleSpan<H>[] = []
  let from = 0
  for (const { part, settled } of beginnings(text, set.held)) {
    await turn()
    // What is found from a place on depends on no more of what stands before it.
    const base = Math.max(0, from - 2 * set.held - 2)
    for (const { start, end, ...span } of set.find(part.slice(base), place, from - base)) {
      if (base + start >= settled) break
      spans.push({ ...span, start: base + start, end: base + end })
      from = base + end
    }
    from = Math.max(from, settled)
  }
  return spans
}

/** The matches of all rules of a set, as a list for people: the first `most` of them, and how many there are. */
export async function matchesInTurns<R extends TextRule, H>(
  set: RuleSet<R, H>,
  text: string,
  place: TextLocation,
  most: number,
): Promise<{ readonly first: RuleMatch<R>[]; readonly count: number; readonly rules: ReadonlySet<R> }> {
  const first: RuleMatch<R>[] = []
  const rules = new Set<R>()
  let count = 0
  for (const rule of set.rulesIn(text, place)) {
    let own = 0
    for await (const { start, end } of eachInTurns(rule.find, text, rule.longest + 1)) {
      if (own < most) first.push({ start, end, rule })
      own += 1
    }
    if (own > 0) rules.add(rule)
    count += own
  }
  // Rules come in their order, which those that begin together keep.
  return { first: first.sort((a, b) => a.start - b.start).slice(0, most), count, rules }
}

async function* eachInTurns(find: Finder, text: string, held: number): AsyncGenerator<Finding> {
  const turn = takingTurns()
  let at = 0
  for (const { part, settled } of beginnings(text, held)) {
    while (at < settled) {
      await turn()
      const found = find(part, at)
      if (!found || found.start >= settled) break
      yield found
      at = found.end
    }
    at = Math.max(at, settled)
  }
}
