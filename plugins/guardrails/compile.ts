import type { GuardrailHit } from '#kernel'
import {
  compileGlobs,
  type Finder,
  type Finding,
  type GuardrailRule,
  guardrailPresets,
  patternFinder,
  RuleSet,
  type TextRule,
  textTargetOf,
} from '#kit'
import type { RuleRow } from './shapes.ts'

/** What a rule may be limited to, of a call that runs or of one of the past. */
export interface Circumstances {
  readonly project: string
  readonly userId: string | undefined
  readonly model: string
}

/** A rule, ready to search. */
export interface CompiledRule extends TextRule {
  readonly row: RuleRow
  holdsFor(call: Circumstances): boolean
}

/** Guardrail rules at work on texts. */
export type GuardrailSet = RuleSet<CompiledRule, GuardrailHit>

export const guardrailSet = (rules: readonly CompiledRule[]): GuardrailSet =>
  new RuleSet(rules, ({ id, row, action, isShadow }, preview) => ({
    ruleId: id,
    ruleName: row.name,
    ruleType: row.type,
    action,
    shadow: isShadow,
    preview,
  }))

const usualLength = 200

/** Makes a rule ready; its pattern is known to be one. */
export function compileRule(row: RuleRow): CompiledRule {
  const preset = row.preset === undefined ? undefined : guardrailPresets[row.preset]
  const source = row.words ? wordsPattern(row.words) : withFlags(preset ?? { ...row, pattern: row.pattern! })
  const longest = row.max_length ?? preset?.max_length ?? Math.max(usualLength, longestOf(row.words))
  const found = patternFinder(source, longest + 1)
  const holding = preset?.holds ? verified(found, preset.holds) : found
  const isAnyModel = row.models && compileGlobs(row.models)
  return {
    id: row.id,
    row,
    type: row.type,
    severity: row.severity,
    priority: row.priority,
    action: row.action,
    isShadow: row.mode === 'shadow',
    source,
    longest: Math.max(longest, longestOf(row.allow)),
    replacement: row.replacement ?? `[REDACTED:${row.type}]`,
    find: row.allow ? outsideOf(row.allow, holding) : holding,
    looksAt: (place) => !row.targets || row.targets.includes(textTargetOf(place)),
    holdsFor: ({ project, userId, model }) =>
      isOfProject(row, project) &&
      (!row.users || (userId !== undefined && row.users.includes(userId))) &&
      (isAnyModel?.(model) ?? true),
  }
}

/** Whether a rule is for the calls of a project. */
export const isOfProject = (row: Pick<RuleRow, 'project'>, project: string): boolean =>
  row.project === '*' || row.project === project

/** Rules that are not stored, named by their place in the list. */
export const compileInput = (rules: readonly GuardrailRule[], list = 'rules'): CompiledRule[] =>
  rules.map((rule, i) =>
    compileRule({
      id: `${list}[${i}]`,
      ...rule,
      type: typeOf(rule),
      version: 0,
      created_at: '',
      updated_at: '',
    }),
  )

/** The type that a rule says it has, or that of its preset. */
export const typeOf = ({ type, preset = '' }: GuardrailRule): RuleRow['type'] =>
  type ?? guardrailPresets[preset]?.type ?? 'custom'

const longestOf = (texts: readonly string[] = []): number => Math.max(0, ...texts.map((text) => text.length))

/** A finder whose matches pass a further test. */
function verified(find: Finder, holds: (text: string) => boolean): Finder {
  return (text, from) => {
    for (let at = from; ; ) {
      const found = find(text, at)
      if (!found || holds(text.slice(found.start, found.end))) return found
      at = found.start + 1
    }
  }
}

/** A finder that passes over matches inside of texts that are allowed. */
function outsideOf(allowed: readonly string[], find: Finder): Finder {
  const isInside = (text: string, { start, end }: Finding): boolean =>
    allowed.some((one) => text.slice(Math.max(0, end - one.length), start + one.length).includes(one))
  return (text, from) => {
    for (let at = from; ; ) {
      const found = find(text, at)
      if (!found || !isInside(text, found)) return found
      at = found.start + 1
    }
  }
}

const withFlags = ({ pattern, flags }: { pattern: string; flags: string }): string =>
  flags === '' ? pattern : `(?${flags})${pattern}`

/**
 * Words that begin alike stand together, as the engine then searches for a thousand of them as for one; in this order a phrase wins
 * over its own beginning. A word that begins or ends in a sign needs no border there.
 */
function wordsPattern(words: readonly string[]): string {
  const closed = (word: string): string => escaped(word) + (/\w$/.test(word) ? '\\b' : '')
  const sorted = words.toSorted((a, b) => (folded(a) < folded(b) ? 1 : -1))
  const byBorder = Map.groupBy(sorted, (word) => (/^\w/.test(word) ? '\\b' : ''))
  const sides = Array.from(byBorder, ([border, some]) => `${border}(?:${some.map(closed).join('|')})`)
  return `(?i)(?:${sides.join('|')})`
}

const folded = (word: string): string => word.toUpperCase().toLowerCase().replaceAll(/\s+/g, ' ')

const escaped = (word: string): string =>
  word.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(/\s+/g, '\\s+')
