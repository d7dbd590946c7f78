import type { GuardrailHit, GuardrailRuleSet, GuardrailSpan, TextLocation } from '#kernel'
import type { Finding } from '#kit'
import type { CompiledRule } from './compile.ts'
import { Prefilter } from './prefilter.ts'
import { Reach, remembering } from './reach.ts'

/** A match and its rule. */
export interface RuleMatch extends Finding {
  readonly rule: CompiledRule
}

/** What a rule does to a text; one in shadow only tells. */
const rankOf = ({ action, isShadow }: CompiledRule): number =>
  isShadow ? 2 : { block: 0, redact: 1, warn: 2, log: 2 }[action]

/**
 * Rules at work on texts. Every character of a match that blocks or redacts is part of a span, wherever matches overlap and
 * however the text is cut: a match counts at every place where it could begin, and what follows from a place follows from the
 * text around it alone.
 */
export class RuleSet implements GuardrailRuleSet {
  readonly held: number
  readonly #prefilter: Prefilter
  readonly #rank = new Map<CompiledRule, number>()

  constructor(rules: readonly CompiledRule[]) {
    const ordered = rules.toSorted((a, b) => rankOf(a) - rankOf(b) || b.row.priority - a.row.priority)
    for (const [rank, rule] of ordered.entries()) this.#rank.set(rule, rank)
    this.#prefilter = new Prefilter(ordered)
    const longest = Math.max(0, ...rules.map((rule) => rule.longest))
    // A match that begins inside of another must be whole before that one may leave.
    this.held = rules.length > 1 ? 2 * longest : longest
  }

  find(text: string, place: TextLocation, from: number): GuardrailSpan[] {
    const rules = this.#rulesIn(text, place).map((rule) => ({ ...rule, find: remembering(rule.find) }))
    const reaches = rules.filter((rule) => rankOf(rule) <= 1).map((rule) => new Reach(rule, from))
    const spans: GuardrailSpan[] = []
    for (let at = from; rules.length > 0; ) {
      const next = placedAt(rules, reaches, text, at)
      if (!next) break
      const end = cutAtStronger(rules, text, next)
      // Of the match that a tail belongs to, the beginning was counted.
      const counted = next.isTail ? rules.filter((rule) => rule !== next.rule) : rules
      spans.push(spanOf(next, end, hitsOf(counted, text, next.start, end)))
      at = end
    }
    return spans
  }

  /** All matches of each rule, as a list for people. */
  matches(text: string, place: TextLocation): RuleMatch[] {
    return this.#rulesIn(text, place)
      .flatMap((rule) => [...matchesOf(rule, text, 0, text.length)])
      .sort((a, b) => a.start - b.start || this.#rank.get(a.rule)! - this.#rank.get(b.rule)!)
  }

  #rulesIn(text: string, place: TextLocation): CompiledRule[] {
    return this.#prefilter
      .mayMatch(text)
      .filter((rule) => rule.looksAt(place))
      .sort((a, b) => this.#rank.get(a)! - this.#rank.get(b)!)
  }
}

/** A match at work; `isTail` for the rest of one that began before. */
interface Placed extends RuleMatch {
  readonly isTail: boolean
}

/** What comes next from a place on: the rest of what began before it, unless something stronger begins there. */
function placedAt(
  rules: readonly CompiledRule[],
  reaches: readonly Reach[],
  text: string,
  at: number,
): Placed | undefined {
  const tail = tailAt(reaches, text, at)
  const next = nextFrom(rules, text, at)
  return tail && !(next?.start === at && rankOf(next.rule) < rankOf(tail.rule)) ? tail : next
}

/** The rest of a match that began before `at` and goes on behind it; of several the one that blocks, then the longest. */
function tailAt(reaches: readonly Reach[], text: string, at: number): Placed | undefined {
  let best: Placed | undefined
  for (const reach of reaches) {
    const { rule } = reach
    if (best && rankOf(best.rule) < rankOf(rule)) break
    const end = reach.before(text, at)
    if (end > (best?.end ?? at)) best = { start: at, end, rule, isTail: true }
  }
  return best
}

/** The earliest match; of several the one of the strongest rule. */
function nextFrom(rules: readonly CompiledRule[], text: string, at: number): Placed | undefined {
  let first: Placed | undefined
  for (const rule of rules) {
    const found = rule.find(text, at)
    if (found && (!first || found.start < first.start)) first = { ...found, rule, isTail: false }
  }
  return first
}

/** Where a match ends, or where a match of a stronger action begins in it. */
function cutAtStronger(rules: readonly CompiledRule[], text: string, { start, end, rule }: Placed): number {
  let cut = end
  for (const other of rules) {
    if (rankOf(other) >= rankOf(rule)) continue
    const found = other.find(text, start + 1)
    if (found && found.start < cut) cut = found.start
  }
  return cut
}

function* matchesOf(rule: CompiledRule, text: string, from: number, to: number): Generator<RuleMatch> {
  for (let at = from; at < to; ) {
    const found = rule.find(text, at)
    if (!found || found.start >= to) return
    yield { start: found.start, end: found.end, rule }
    at = found.end
  }
}

/** The matches that begin between two places, of all rules. */
function hitsOf(rules: readonly CompiledRule[], text: string, from: number, to: number): GuardrailHit[] {
  return rules.flatMap((rule) =>
    Array.from(matchesOf(rule, text, from, to), ({ start, end }) => ({
      ruleId: rule.id,
      ruleName: rule.row.name,
      ruleType: rule.row.type,
      action: rule.action,
      shadow: rule.isShadow,
      preview: previewOf(text.slice(start, end)),
    })),
  )
}

/** A tail leaves no mark, as the match that it follows has left one. */
function spanOf({ start, rule, isTail }: Placed, end: number, hits: readonly GuardrailHit[]): GuardrailSpan {
  const { id, row, action, isShadow, replacement } = rule
  const told = { start, end, label: row.type, type: row.type, severity: row.severity, ruleId: id, hits }
  if (isShadow || action === 'log') return { ...told, action: 'log' }
  if (action === 'warn') return { ...told, action: 'note' }
  if (action === 'block') return { ...told, action: 'block' }
  return { ...told, action: 'replace', replacement: isTail ? '' : replacement }
}

/** The form of a text without what it says. */
const previewOf = (text: string): string =>
  text.slice(0, 40).replaceAll(/\p{L}/gu, 'x').replaceAll(/\p{N}/gu, '0')
