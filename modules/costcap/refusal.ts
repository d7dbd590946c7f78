import { type CapStanding, type GatewayError, rateLimited } from '#kernel'
import { usdOf } from '#kit'

/** Calls under way end soon, and most cost less than what was set apart for them. */
const soonS = 5

/** A call that a cap has no room for. */
export function refusedBy(standing: CapStanding, nano: number): GatewayError {
  const { cap, mostNano, spentNano, resetsAt } = standing
  const { scope, period } = cap
  const whose = scope === 'service' ? 'all calls together' : `this ${scope}`
  const reset = new Date(resetsAt).toISOString()
  const isSoon = spentNano + nano <= mostNano && spentNano < mostNano
  return rateLimited(`The ${period} cap for ${whose} is $${usdOf(mostNano)}, and ${whyOf(standing, nano)}.`, {
    type: 'spend_limit',
    retryAfterS: isSoon ? soonS : Math.max(1, Math.ceil((resetsAt - Date.now()) / 1000)),
    details: { scope, period, cap_usd: usdOf(mostNano), current_usd: usdOf(spentNano), resets_at: reset },
  })
}

function whyOf({ mostNano, spentNano, reservedNano, resetsAt }: CapStanding, nano: number): string {
  if (nano > mostNano)
    return `this call could cost $${usdOf(nano)}: ask for a shorter answer (max_tokens) or a cheaper model`
  if (spentNano + nano <= mostNano && spentNano < mostNano)
    return `$${usdOf(spentNano)} is spent and $${usdOf(reservedNano)} set apart for calls under way: try again when they end`
  return `$${usdOf(spentNano)} of it is spent: wait until ${new Date(resetsAt).toISOString()}, or ask an admin for more`
}

/** A call that could cost more than one may. */
export const tooDear = (nano: number, mostNano: number): GatewayError =>
  rateLimited(
    `This call could cost $${usdOf(nano)}, and one may cost $${usdOf(mostNano)} at the most: ask for a shorter answer ` +
      '(max_tokens) or a cheaper model.',
    { type: 'spend_limit', details: { scope: 'call', cap_usd: usdOf(mostNano), estimated_usd: usdOf(nano) } },
  )
