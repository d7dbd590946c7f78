import type { AnomalyRow } from './row.ts'

type Dimension = AnomalyRow['dimensions'][number]

const rounded = (value: number): string => String(Number(value.toPrecision(3)))
const percent = (value: number): string => `${rounded(value * 100)} %`

/** Figures with their units, by their metric. */
const written: Readonly<Record<string, (value: number) => string>> = {
  cost_usd: (value) => `$${rounded(value)}`,
  latency_ms: (value) => `${rounded(value)} ms`,
  error_rate: percent,
  request_rate: (value) => `${rounded(value)} a minute`,
  refusal_rate: percent,
  json_validity: percent,
  language: percent,
}

/** An anomaly in one sentence, by its first dimension. */
export function messageOf(scope: AnomalyRow['scope'], [first, ...rest]: AnomalyRow['dimensions']): string {
  const more = new Set(rest.map(({ metric }) => metric).filter((metric) => metric !== first.metric))
  const also = more.size > 0 ? ` So it is for ${[...more].join(', ')}.` : ''
  const show = written[first.metric] ?? rounded
  return `${first.metric} is ${show(first.actual)} where ${show(first.expected)} is usual for ${nameOf(scope, first)}.${also}`
}

function nameOf(
  { model = '', provider, user = '', template = '' }: AnomalyRow['scope'],
  { by }: Dimension,
): string {
  if (by === 'user') return `the user ${user}`
  const called = provider === undefined ? model : `${provider}/${model}`
  return by === 'template' ? `the template ${template} with ${called}` : called
}
