import type { UsageLine } from './usage.ts'

const columns =
  'from,value,requests,errors,tokens_in,tokens_out,tokens_cached,tokens_reasoning,cost_usd,own_key_usd,unpriced'

/** Lines as CSV (RFC 4180), with dollars to all nine places. */
export function csvOf(lines: readonly UsageLine[]): string {
  const rows = lines.map(({ at, value, sums }) =>
    [
      at === undefined ? '' : new Date(at).toISOString(),
      field(value),
      sums.requests,
      sums.errors,
      sums.tokensIn,
      sums.tokensOut,
      sums.tokensCached,
      sums.tokensReasoning,
      dollars(sums.costNano),
      dollars(sums.ownKeyNano),
      sums.unpriced ?? 0,
    ].join(','),
  )
  return `${[columns, ...rows].join('\r\n')}\r\n`
}

/** Clients choose tags and projects, and spreadsheets run what begins like a formula. */
function field(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const perDollar = 1_000_000_000n

function dollars(nano: number): string {
  const whole = BigInt(nano)
  return `${whole / perDollar}.${String(whole % perDollar).padStart(9, '0')}`
}
