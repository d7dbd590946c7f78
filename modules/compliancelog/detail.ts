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

/**
 * The facts of a call that an entry tells. They are set in the order of canonical JSON, and not spread together: both make the entry
 * cheaper.
 */
export function detailOf(outcome: Outcome, call: Call, told: ReadonlySet<Part>): Record<string, unknown> {
  const { trace, context, principal, request } = call
  const { error, usage, model } = outcome
  const detail: Record<string, unknown> = {}
  if (told.has('cost')) detail.cost_nano = outcome.cost?.totalNano ?? null
  if (error) detail.error = { code: error.code, module: error.module ?? null, type: error.type ?? null }
  if (told.has('findings')) detail.findings = trace.findings.map(findingOf)
  if (told.has('key')) detail.key_id = principal.keyId
  if (told.has('models')) {
    detail.model_asked = word(request.model)
    detail.model_served = model === undefined ? null : word(model)
  }
  if (told.has('project')) detail.project = word(context.project)
  if (told.has('models')) detail.provider = outcome.provider ?? null
  if (told.has('hashes')) {
    // Of bodies that are there, the ledger has the hashes in place of these.
    detail.request_sha256 = null
    detail.response_sha256 = null
  }
  detail.source = context.source
  detail.status = outcome.status
  detail.stream = call.stream
  if (told.has('tags')) detail.tags = context.tags
  if (told.has('usage')) {
    detail.tokens_in = usage.input
    detail.tokens_out = usage.output
  }
  return detail
}

/** The bodies of a call as its trace shows them, of which the entry has the hashes. */
export function digestsOf(outcome: Outcome, { trace }: Call): Record<string, string> {
  const { request } = trace
  const response = outcome.json()
  return {
    ...(request && { request_sha256: trace.json(request) }),
    ...(response !== undefined && { response_sha256: response }),
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
