import type { Span } from '../../kernel/detect/detect.ts'
import type { TextLocation } from '../canonical/text-location.ts'
import type { Finding } from './find-all.ts'
import { Prefilter } from './rule-prefilter.ts'
import { Reach, remembering } from './rule-reach.ts'
import type { TextRule } from './text-rule.ts'

/** A match and its rule. */
export interface RuleMatch<R extends TextRule = TextRule> extends Finding {
  readonly rule: R
}

/** A span with the matches that begin in it: of all rules, also of those that another outweighs. */
export interface RuleSpan<H> extends Span {
  readonly hits: readonly H[]
}

/** What a user of rules keeps of a match; `preview` is the form of the text without what it says. */
type HitOf<R, H> = (rule: R, preview: string) => H

/** What a rule does to a text; one in shadow only tells. */
const rankOf = ({ action, isShadow }: TextRule): number =>
  isShadow ? 2 : { block: 0, redact: 1, warn: 2, log: 2 }[action]

/**
 * Rules at work on texts. Every character of a match that blocks or redacts is part of a span, wherever matches overlap and
 * however the text is cut: a match counts at every place where it could begin, and what follows from a place follows from the
 * text around it alone.
 */
export class RuleSet<R extends TextRule, H> {
  /** The last so many characters of a text that grows are not settled. */
  readonly held: number
  readonly #prefilter: Prefilter<R>
  readonly #rank = new Map<R, number>()
  readonly #hitOf: HitOf<R, H>

  constructor(rules: readonly R[], hitOf: HitOf<R, H>) {
    this.#hitOf = hitOf
    const ordered = rules.toSorted((a, b) => rankOf(a) - rankOf(b) || b.priority - a.priority)
    for (const [rank, rule] of ordered.entries()) this.#rank.set(rule, rank)
    this.#prefilter = new Prefilter(ordered)
    const longest = Math.max(0, ...rules.map((rule) => rule.longest))
    // A match that begins inside of another must be whole before that one may leave.
    this.held = rules.length > 1 ? 2 * longest : longest
  }

  /** The findings from an index on, in order and without overlap. */
  find(text: string, place: TextLocation, from: number): RuleSpan<H>[] {
    const rules = this.rulesIn(text, place).map((rule) => ({ ...rule, find: remembering(rule.find) }))
    const reaches = rules.filter((rule) => rankOf(rule) <= 1).map((rule) => new Reach(rule, from))
    const spans: RuleSpan<H>[] = []
    for (let at = from; rules.length > 0; ) {
      const next = placedAt(rules, reaches, text, at)
      if (!next) break
      const end = cutAtStronger(rules, text, next)
      // Of the match that a tail belongs to, the beginning was counted.
      const counted = next.isTail ? rules.filter((rule) => rule !== next.rule) : rules
      spans.push(spanOf(next, end, this.#hits(counted, text, next.start, end)))
      at = end
    }
    return spans
  }

  /** All matches of each rule, as a list for people. */
  matches(text: string, place: TextLocation): RuleMatch<R>[] {
    return this.rulesIn(text, place)
      .flatMap((rule) => [...matchesOf(rule, text, 0, text.length)])
      .sort((a, b) => a.start - b.start || this.#rank.get(a.rule)! - this.#rank.get(b.rule)!)
  }

  /** The rules that match somewhere in a text. */
  matching(text: string, place: TextLocation): R[] {
    return this.rulesIn(text, place).filter((rule) => rule.find(text, 0) !== undefined)
  }

  /** The matches that begin between two places, of all rules. */
  #hits(rules: readonly R[], text: string, from: number, to: number): H[] {
    return rules.flatMap((rule) =>
      Array.from(matchesOf(rule, text, from, to), ({ start, end }) =>
        this.#hitOf(rule, previewOf(text.slice(start, end))),
      ),
    )
  }

  /** The rules that may match in a text of a place, the strongest first. */
  rulesIn(text: string, place: TextLocation): R[] {
    return this.#prefilter
      .mayMatch(text)
      .filter((rule) => rule.looksAt(place))
      .sort((a, b) => this.#rank.get(a)! - this.#rank.get(b)!)
  }
}

/** A match at work; `isTail` for the rest of one that began before. */
interface Placed<R extends TextRule> extends RuleMatch<R> {
  readonly isTail: boolean
}

/** What comes next from a place on: the rest of what began before it, unless something stronger begins there. */
function placedAt<R extends TextRule>(
  rules: readonly R[],
  reaches: readonly Reach<R>[],
  text: string,
  at: number,
): Placed<R> | undefined {
  const tail = tailAt(reaches, text, at)
  const next = nextFrom(rules, text, at)
  return tail && !(next?.start === at && rankOf(next.rule) < rankOf(tail.rule)) ? tail : next
}

/** The rest of a match that began before `at` and goes on behind it; of several the one that blocks, then the longest. */
function tailAt<R extends TextRule>(
  reaches: readonly Reach<R>[],
  text: string,
  at: number,
): Placed<R> | undefined {
  let best: Placed<R> | undefined
  for (const reach of reaches) {
    const { rule } = reach
    if (best && rankOf(best.rule) < rankOf(rule)) break
    const end = reach.before(text, at)
    if (end > (best?.end ?? at)) best = { start: at, end, rule, isTail: true }
  }
  return best
}

/** The earliest match; of several the one of the strongest rule. */
function nextFrom<R extends TextRule>(rules: readonly R[], text: string, at: number): Placed<R> | undefined {
  let first: Placed<R> | undefined
  for (const rule of rules) {
    const found = rule.find(text, at)
    if (found && (!first || found.start < first.start)) first = { ...found, rule, isTail: false }
  }
  return first
}

/** Where a match ends, or where a match of a stronger action begins in it. */
function cutAtStronger<R extends TextRule>(
  rules: readonly R[],
  text: string,
  { start, end, rule }: Placed<R>,
): number {
  let cut = end
  for (const other of rules) {
    if (rankOf(other) >= rankOf(rule)) continue
    const found = other.find(text, start + 1)
    if (found && found.start < cut) cut = found.start
  }
  return cut
}

function* matchesOf<R extends TextRule>(
  rule: R,
  text: string,
  from: number,
  to: number,
): Generator<RuleMatch<R>> {
  for (let at = from; at < to; ) {
    const found = rule.find(text, at)
    if (!found || found.start >= to) return
    yield { start: found.start, end: found.end, rule }
    at = found.end
  }
}

/** A tail leaves no mark, as the match that it follows has left one. */
function spanOf<R extends TextRule, H>(
  { start, rule, isTail }: Placed<R>,
  end: number,
  hits: readonly H[],
): RuleSpan<H> {
  const { id, type, severity, action, isShadow, replacement } = rule
  const told = { start, end, label: type, type, severity, ruleId: id, hits }
  if (isShadow || action === 'log') return { ...told, action: 'log' }
  if (action === 'warn') return { ...told, action: 'note' }
  if (action === 'block') return { ...told, action: 'block' }
  return { ...told, action: 'replace', replacement: isTail ? '' : replacement }
}

/** The form of a text without what it says. */
const previewOf = (text: string): string =>
  text.slice(0, 40).replaceAll(/\p{L}/gu, 'x').replaceAll(/\p{N}/gu, '0')
