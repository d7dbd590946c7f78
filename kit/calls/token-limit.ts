import type { Call } from '../../kernel/call/call.ts'
import type { ModelRequest } from '../canonical/forms.ts'

/** Where a request says how many tokens an answer may have. Services take the first where both are there. */
export const tokenLimitFields = ['max_completion_tokens', 'max_tokens'] as const

/** How many tokens an answer may have; undefined where the request leaves it open. */
export const tokenLimit = (request: ModelRequest): number | undefined =>
  request.max_completion_tokens ?? request.max_tokens ?? undefined

/**
 * The call for an answer of so many tokens at the most: limits of its own are lowered, and one without any gets this one. The
 * same call when it asks for no more.
 */
export function limitTokens(call: Call, most: number): Call {
  const { request } = call
  const own = tokenLimitFields.filter((field) => typeof request[field] === 'number')
  const over = own.length === 0 ? (['max_tokens'] as const) : own.filter((field) => request[field]! > most)
  return over.length === 0 ? call : call.withRequest(Object.fromEntries(over.map((field) => [field, most])))
}
