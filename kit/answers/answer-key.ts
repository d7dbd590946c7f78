import { hash } from 'node:crypto'
import type { Call } from '../../kernel/call/call.ts'
import type { Stage } from '../../kernel/chain/hooks.ts'
import { allProtocolOptions } from '../calls/protocol-options.ts'
import type { ModelRequest } from '../canonical/forms.ts'
import { orderedJson } from '../json/ordered-json.ts'

/** The callers that share the data kept of a call. */
export type Circle = 'user' | 'project' | 'tenant' | 'everyone'

/**
 * Names the callers that share with this one, such as the answers of a cache: callers with the same name share. It is never
 * wider than the tenant, also for a project, whose name two tenants may use. A caller without a tenant shares with its user
 * alone where the circle is the tenant.
 */
export function circleOf({ principal, context }: Call, share: Circle): string {
  const { tenant = null, userId, keyId } = principal
  if (share === 'everyone' || (share === 'tenant' && tenant !== null)) return JSON.stringify([tenant])
  if (share === 'project') return JSON.stringify([tenant, 'project', context.project])
  return JSON.stringify(userId === undefined ? [tenant, 'key', keyId] : [tenant, 'user', userId])
}

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

/** A request without the fields that change how its answer is delivered or accounted for. */
export const answeredRequest = (request: ModelRequest): ModelRequest =>
  Object.fromEntries(Object.entries(request).filter(([name]) => !irrelevant.has(name))) as ModelRequest

/**
 * The key of the answers that two calls can share: the operation, every field of the request that affects it, wherever it
 * stands in the JSON, the provider that was forced, the abilities of Anthropic's that a header switches on, the options of
 * modules for the translation, the values that the answer varies by in modules of the stages inside of `insideOf`, and the
 * circle that shares answers.
 */
export function answerKey(call: Call, circle: string, insideOf: Stage = 'cache'): string {
  const { request, operation, context, trace } = call
  const { provider = null, headers } = context
  const varies = trace.chain?.variesIn?.(call, insideOf) ?? null
  const said = JSON.stringify([circle, operation, provider, headers['anthropic-beta'] ?? null, varies])
  return hash('sha256', `${said}${orderedJson(request, irrelevant)}${orderedJson(allProtocolOptions(call))}`)
}
