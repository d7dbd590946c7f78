import { z } from 'zod'
import type { Call, Limit } from '#kernel'
import { compileGlobs, expectedTokens, isGlob, modelName } from '#kit'
import type { Measure, Ruled, Scope } from './claims.ts'

/** The most specific first. */
const scopes = ['key', 'user', 'project', 'model', 'global'] as const satisfies readonly Scope[]

const count = z.int().min(1)

export const ruleSchema = z
  .strictObject({
    per: z.enum(scopes).meta({
      title: 'Per',
      description:
        'What has a separate limit: each key, user, project or model, or all calls together. Each tenant has its own.',
    }),
    match: z.string().min(1).default('*').meta({
      title: 'Match',
      description: 'Glob for key ids, user ids, projects or models. The most specific match is used.',
    }),
    rpm: count.optional().meta({ title: 'Requests', description: 'Requests per minute, as a steady flow.' }),
    burst: count.optional().meta({
      title: 'Burst',
      description: 'Requests that may arrive at once after a pause. By default as many as per minute.',
    }),
    tpm: count
      .optional()
      .meta({ title: 'Tokens', description: 'Tokens of prompts and answers in any minute.' }),
    concurrency: count
      .optional()
      .meta({ title: 'Concurrency', description: 'Calls that may run at the same time.' }),
  })
  .refine(
    ({ rpm, tpm, concurrency }) => rpm ?? tpm ?? concurrency,
    'needs at least one of rpm, tpm and concurrency',
  )
  .refine(({ rpm, burst }) => burst === undefined || rpm !== undefined, 'burst needs rpm')

export type Rule = z.infer<typeof ruleSchema>

const windowMs = 60_000

/**
 * The limits that hold for a call: for each scope those of its most specific rule, from the key to all calls together.
 * They are counted by their subject alone, so that a change of the rules refills none. A call that may need more tokens
 * than a minute has goes when none are taken, and takes all.
 */
export function compileRules(rules: readonly Rule[]): (call: Call) => Ruled[] {
  const groups = scopes.flatMap((scope) => {
    const group = rules.filter(({ per }) => per === scope).toSorted(bySpecificity)
    const compiled = group.map((rule) => ({
      matches: compileGlobs([rule.match]),
      limits: limitsOf(rule),
    }))
    return compiled.length > 0 ? [{ scope, compiled }] : []
  })
  return (call) => {
    let tokens: number | undefined
    const amountOf = (unit: Measure, { most }: Limit): number => {
      if (unit !== 'tokens') return 1
      tokens ??= sumOf(expectedTokens(call))
      return Math.min(tokens, most)
    }
    return groups.flatMap(({ scope, compiled }) => {
      const subject = subjectOf(scope, call)
      const rule = subject === undefined ? undefined : compiled.find(({ matches }) => matches(subject))
      if (subject === undefined || !rule) return []
      const name = nameOf(scope, subject, call)
      return rule.limits.map(([unit, limit]) => {
        return { scope, subject, name, unit, limit, amount: amountOf(unit, limit) }
      })
    })
  }
}

const sumOf = ({ input, output }: ReturnType<typeof expectedTokens>): number => input + output

function limitsOf({ rpm, burst, tpm, concurrency }: Rule): [Measure, Limit][] {
  const limits: [Measure, Limit][] = []
  if (rpm) limits.push(['requests', { kind: 'bucket', most: rpm, windowMs, burst: burst ?? rpm }])
  if (tpm) limits.push(['tokens', { kind: 'sliding', most: tpm, windowMs }])
  if (concurrency) limits.push(['concurrency', { kind: 'concurrency', most: concurrency }])
  return limits
}

/** A name before a pattern, a pattern with more letters before one with fewer; equals stay in the order they came in. */
function bySpecificity(a: Rule, b: Rule): number {
  const weight = ({ match }: Rule): number =>
    isGlob(match) ? match.replaceAll(/[*?]/g, '').length : Number.MAX_SAFE_INTEGER
  return weight(b) - weight(a)
}

/** Admin keys have no user, and so no limit by user. */
function subjectOf(scope: Scope, call: Call): string | undefined {
  const { principal, context } = call
  if (scope === 'key') return principal.keyId
  if (scope === 'user') return principal.userId
  if (scope === 'project') return context.project
  return scope === 'model' ? modelName(call).model.toLowerCase() : 'all'
}

/** The name that it is counted by. Tenants share no limit: one would see in its headers what another has used. */
function nameOf(scope: Scope, subject: string, { principal: { tenant } }: Call): string {
  const isShared = scope !== 'key' && scope !== 'user'
  return isShared && tenant !== undefined
    ? `${scope}:${JSON.stringify([tenant, subject])}`
    : `${scope}:${subject}`
}
