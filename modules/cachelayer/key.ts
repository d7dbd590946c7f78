import { hash } from 'node:crypto'
import { type Call, wishesIn } from '#kernel'

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

/** Whose entries a call may hit. */
export type Sharing = 'user' | 'project' | 'everyone'

/**
 * What two calls must have in common to have the same answer: the operation, every field of the request that affects
 * it, wherever it stands in the JSON, the provider that was forced, the abilities of Anthropic's that a header switches
 * on, what modules ask of the translation, and the circle that shares answers.
 */
export function keyOf(call: Call, sharing: Sharing): string {
  const { request, operation, context } = call
  const relevant = Object.fromEntries(Object.entries(request).filter(([field]) => !irrelevant.has(field)))
  return hash(
    'sha256',
    JSON.stringify([
      circleOf(call, sharing),
      operation,
      context.provider ?? null,
      context.headers['anthropic-beta'] ?? null,
      ordered(relevant),
      ordered(wishesIn(call)),
    ]),
  )
}

function circleOf({ principal, context }: Call, sharing: Sharing): string {
  if (sharing === 'everyone') return 'everyone'
  return sharing === 'project' ? `project ${context.project}` : `user ${principal.userId ?? principal.keyId}`
}

/** The value with the fields of every object in one order; the order of lists is theirs. */
function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(ordered)
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return { fields: fields.map(([name, field]) => [name, ordered(field)]) }
}
