import type { Outcome } from '../../kernel/call/outcome.ts'
import type { Trace } from '../../kernel/call/trace.ts'

/** How a call ended, in the words of traces and figures. */
export const callStatuses = [
  'ok',
  'cache_hit',
  'blocked',
  'rate_limited',
  'error',
  'client_abort',
  'timeout',
] as const

export type CallStatus = (typeof callStatuses)[number]

/** The status of a call that has settled. */
export function callStatus(
  { ending, error }: Pick<Outcome, 'ending' | 'error'>,
  { trace }: { readonly trace: Pick<Trace, 'cached'> },
): CallStatus {
  switch (ending) {
    case 'ok':
    case 'length':
      return trace.cached ? 'cache_hit' : 'ok'
    case 'blocked':
    case 'client_abort':
    case 'timeout':
      return ending
    case 'refused':
      return error?.status === 429 ? 'rate_limited' : 'error'
    case 'upstream_error':
    case 'gateway_error':
      return 'error'
  }
}
