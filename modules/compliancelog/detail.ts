import type { Call, Outcome, TraceFinding } from '#kernel'

/** What an entry may tell of a call. */
export const parts = [
  'key',
  'project',
  'models',
  'findings',
  'hashes',
  'usage',
  'cost',
  'tags',
  'ip',
] as const
export type Part = (typeof parts)[number]

/** What an entry tells without a setting: nothing that names a person. */
export const usual: readonly Part[] = ['key', 'project', 'models', 'findings', 'hashes', 'usage', 'cost']

/** Characters of a word that a client chose. */
const longest = 200

/** A word of a client's as an entry can hold it. */
export const word = (text: string): string => text.slice(0, longest).toWellFormed()

/** The facts of a call that an entry tells, but for the hashes. Its names are in the order of canonical JSON. */
export function detailOf(outcome: Outcome, call: Call, told: ReadonlySet<Part>): Record<string, unknown> {
  const { trace, context, principal, request } = call
  const { error, usage, model } = outcome
  return {
    ...(told.has('cost') && { cost_nano: outcome.cost?.totalNano ?? null }),
    ...(error && { error: { code: error.code, module: error.module ?? null, type: error.type ?? null } }),
    ...(told.has('findings') && { findings: trace.findings.map(findingOf) }),
    ...(told.has('key') && { key_id: principal.keyId }),
    ...(told.has('models') && {
      model_asked: word(request.model),
      model_served: model === undefined ? null : word(model),
    }),
    ...(told.has('project') && { project: word(context.project) }),
    ...(told.has('models') && { provider: outcome.provider ?? null }),
    source: context.source,
    status: outcome.status,
    stream: call.stream,
    ...(told.has('tags') && { tags: context.tags }),
    ...(told.has('usage') && { tokens_in: usage.input, tokens_out: usage.output }),
  }
}

const findingOf = ({
  action,
  count,
  direction,
  label,
  mode,
  module,
  ruleId,
  severity,
  type,
}: TraceFinding) => ({
  action,
  count,
  direction,
  label: label.toWellFormed(),
  module,
  ...(ruleId !== undefined && { rule_id: ruleId.toWellFormed() }),
  severity,
  ...(mode && { shadow: true }),
  type,
})
