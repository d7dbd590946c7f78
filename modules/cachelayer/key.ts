import { hash } from 'node:crypto'
import { allProtocolOptions, type Call } from '#kernel'

/** Fields that change how an answer is delivered or accounted for, not what it says. */
const irrelevant = new Set([
  'stream',
  'stream_options',
  'user',
  'metadata',
  'store',
  'service_tier',
  'safety_identifier',
])

/** The circle of callers whose entries a call may hit. */
export type Sharing = 'user' | 'project' | 'everyone'

/**
 * What two calls must have in common to have the same answer: the operation, every field of the request that affects
 * it, wherever it stands in the JSON, the provider that was forced, the abilities of Anthropic's that a header switches
 * on, what modules ask of the translation, and the circle that shares answers.
 */
export function keyOf(call: Call, sharing: Sharing): string {
  const { request, operation, context } = call
  const { provider = null, headers } = context
  const said = JSON.stringify([
    circleOf(call, sharing),
    operation,
    provider,
    headers['anthropic-beta'] ?? null,
  ])
  return hash('sha256', `${said}${ordered(request, irrelevant)}${ordered(allProtocolOptions(call))}`)
}

function circleOf({ principal, context }: Call, sharing: Sharing): string {
  if (sharing === 'everyone') return 'everyone'
  return sharing === 'project' ? `project ${context.project}` : `user ${principal.userId ?? principal.keyId}`
}

/** JSON in which the fields of every object are in one order, without some; the order of lists is theirs. */
function ordered(value: unknown, without?: ReadonlySet<string>): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map((item) => ordered(item)).join()}]`
  let text = '{'
  for (const name of Object.keys(value).sort()) {
    const field = (value as Readonly<Record<string, unknown>>)[name]
    if (field === undefined || without?.has(name)) continue
    text += `${JSON.stringify(name)}:${ordered(field)},`
  }
  return `${text}}`
}
