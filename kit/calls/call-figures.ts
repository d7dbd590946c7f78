import type { Outcome } from '../../kernel/call/outcome.ts'
import { usdOf } from '../costs/money.ts'

/** To the microsecond, as traces have it. */
const exact = (ms: number): number => Math.round(ms * 1000) / 1000

/** The figures of a call that an area made, as it shows them. */
export const callFigures = ({ provider, usage, cost, latencyMs, ttftMs }: Outcome) => ({
  provider: provider ?? null,
  tokens_in: usage.input,
  tokens_out: usage.output,
  cost_usd: cost ? usdOf(cost.totalNano) : null,
  latency_ms: exact(latencyMs),
  ttft_ms: ttftMs === undefined ? null : exact(ttftMs),
})
