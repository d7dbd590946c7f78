import type { Call, Target } from '#kernel'
import { fitOf } from './fit.ts'
import { isNative } from './native.ts'

/** The version whose parameters are translated to; callers that speak the protocol themselves name their own. */
const version = '2023-06-01'

/** The headers of every request. */
export function headersOf({ key }: Target): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json',
    'anthropic-version': version,
    ...(key && { 'x-api-key': key.secret }),
  }
}

/** Version and betas that a caller of the same protocol counts on. */
export function ownHeaders(call: Call): Record<string, string> {
  const { 'anthropic-version': asked, 'anthropic-beta': beta } = call.context.headers
  const betas = [...(typeof beta === 'string' ? beta.split(/\s*,\s*/) : []), ...fitOf(call).betas]
  return {
    ...(isNative(call) && typeof asked === 'string' && { 'anthropic-version': asked }),
    ...(betas.length > 0 && { 'anthropic-beta': [...new Set(betas)].join(',') }),
  }
}
