import type { TextLocation } from '#kernel'
import { compileGlobs, patternFinder, patternTest, type TextRule, type TrustPolicy, textTargetOf } from '#kit'
import type { Facts } from './facts.ts'
import { kindOf } from './fields.ts'
import { normalised } from './normalise.ts'
import { comparison } from './numbers.ts'
import type { PolicyRow, PolicyRule } from './shapes.ts'
import { modelTest, valueTest } from './values.ts'

/** A rule for texts, and the policy that it belongs to. */
export interface PolicyText extends TextRule {
  readonly row: PolicyRow
  readonly field: string
}

/**
 * What decides over a policy once its rules for values and requests match: nothing more (`values`), a match in a text of the
 * request or of the answer, or the whole answer (`whole`), of which it can be enough to hold back the calls of tools (`calls`).
 */
export type PolicyKind = 'values' | 'request' | 'reply' | 'calls' | 'whole'

/** A policy, ready to be asked about calls. */
export interface CompiledPolicy {
  readonly id: string
  readonly row: PolicyRow
  readonly kind: PolicyKind
  /** Rules for the model. */
  readonly models: readonly ((facts: Pick<Facts, 'model'>) => boolean)[]
  /** Rules for what else is known of a call before it is sent, its cost apart. */
  readonly values: readonly ((facts: Facts) => boolean)[]
  /** Rules for what a call is expected to cost, in USD. */
  readonly costs: readonly ((usd: number) => boolean)[]
  /** Rules for texts of requests and of answers. */
  readonly request: readonly PolicyText[]
  readonly reply: readonly PolicyText[]
  /** Rules for the names of tools that an answer calls. */
  readonly names: readonly ((name: string) => boolean)[]
  /** Whether it holds for the project, the user and the model of a call. */
  covers(facts: Pick<Facts, 'project' | 'userId' | 'model'>): boolean
  /** Whether it forbids models, whatever is said: no call may go to one by another name either. */
  readonly isBan: boolean
}

const usualLength = 200

/** Makes a policy ready; its rules are known to be sound. */
export function compilePolicy(row: PolicyRow): CompiledPolicy {
  const of = (kind: string) => row.rules.filter(({ field }) => kindOf(field) === kind)
  const numbers = of('number')
  const models = of('value').filter(({ field }) => field === 'model')
  return {
    id: row.id,
    row,
    kind: policyKind(row.rules),
    models: models.map(modelTest),
    values: [
      ...of('value')
        .filter(({ field }) => field !== 'model')
        .map(valueTest),
      ...numbers.filter(({ field }) => field === 'tokens').map(tokensTest),
    ],
    costs: numbers.filter(({ field }) => field === 'cost').map(({ pattern }) => comparison(pattern)!),
    request: of('request').map((rule) => textRule(rule, row)),
    reply: of('reply').map((rule) => textRule(rule, row)),
    names: of('name').map(({ pattern }) => patternTest(pattern)),
    covers: scopeTest(row.scope),
    isBan:
      row.action === 'block' &&
      row.mode === 'enforce' &&
      models.length > 0 &&
      models.every(({ negate }) => !negate) &&
      row.rules.every(({ field }) => field === 'tokens' || kindOf(field) === 'value'),
  }
}

/** Policies that are not stored, named by their place in a list. Throws a bad request for one that is not sound. */
export const compileUnstored = (policies: readonly TrustPolicy[], list = 'policies'): CompiledPolicy[] =>
  policies.map((policy, i) =>
    compilePolicy({
      ...normalised(policy),
      id: `${list}[${i}]`,
      version: 0,
      created_at: '',
      updated_at: '',
    }),
  )

function scopeTest({ projects, users, models }: PolicyRow['scope']): CompiledPolicy['covers'] {
  const isModel = models && compileGlobs(models)
  return ({ project, userId, model }) =>
    (!projects || projects.includes(project)) &&
    (!users || (userId !== undefined && users.includes(userId))) &&
    (isModel?.(model) ?? true)
}

function policyKind(rules: readonly PolicyRule[]): PolicyKind {
  const kinds = rules.map(({ field }) => kindOf(field))
  const ofReply = rules.filter((_, i) => kinds[i] === 'reply')
  if (kinds.includes('name') || ofReply.length > 1)
    return ofReply.every(({ field, target = field }) => target === 'tool_args') ? 'calls' : 'whole'
  if (ofReply.length === 1) return 'reply'
  return kinds.includes('request') ? 'request' : 'values'
}

function tokensTest({ pattern }: PolicyRule): (facts: Facts) => boolean {
  const holds = comparison(pattern)!
  return ({ tokens }) => tokens !== undefined && holds(tokens)
}

function textRule(rule: PolicyRule, row: PolicyRow): PolicyText {
  const { field, pattern, max_length: longest = usualLength } = rule
  return {
    id: row.id,
    row,
    field,
    type: 'policy',
    severity: severities[row.action],
    priority: row.priority,
    action: row.action,
    isShadow: row.mode === 'shadow',
    source: pattern,
    longest,
    replacement: '[REDACTED:policy]',
    find: patternFinder(pattern, longest + 1),
    looksAt: looksAt(rule),
  }
}

function looksAt({ field, target }: PolicyRule): (place: TextLocation) => boolean {
  const wanted: string = target ?? field
  if (wanted === 'request' || wanted === 'response') return () => true
  return (place) => textTargetOf(place) === wanted
}

/** How severe a violation is: what is done about it tells. */
export const severities = { block: 'high', redact: 'medium', warn: 'low', log: 'low' } as const
