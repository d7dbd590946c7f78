import { type CapStanding, type GatewayError, rateLimited } from '#kernel'
import { usdOf } from '#kit'

/** A call that a cap has no room for. */
export function refusedBy({ cap, mostNano, spentNano, resetsAt }: CapStanding, nano: number): GatewayError {
  const { scope, period } = cap
  const whose = scope === 'service' ? 'all calls together' : `this ${scope}`
  const reset = new Date(resetsAt).toISOString()
  const why =
    nano > mostNano
      ? `and this call could cost $${usdOf(nano)}: ask for a shorter answer (max_tokens) or a cheaper model`
      : `and $${usdOf(spentNano)} of it is spent: wait until ${reset}, or ask an admin for more`
  return rateLimited(`The ${period} cap for ${whose} is $${usdOf(mostNano)}, ${why}.`, {
    type: 'spend_limit',
    retryAfterS: Math.max(1, Math.ceil((resetsAt - Date.now()) / 1000)),
    details: { scope, period, cap_usd: usdOf(mostNano), current_usd: usdOf(spentNano), resets_at: reset },
  })
}

/** A call that could cost more than one may. */
export const tooDear = (nano: number, mostNano: number): GatewayError =>
  rateLimited(
    `This call could cost $${usdOf(nano)}, and one may cost $${usdOf(mostNano)} at the most: ask for a shorter answer ` +
      '(max_tokens) or a cheaper model.',
    { type: 'spend_limit', details: { scope: 'call', cap_usd: usdOf(mostNano), estimated_usd: usdOf(nano) } },
  )
