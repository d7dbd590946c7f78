import { metricOf } from './metrics.ts'
import type { RuleRow } from './rule-fields.ts'

const signs: Readonly<Record<RuleRow['condition'], string>> = { gt: '>', gte: '≥', lt: '<', lte: '≤' }

const digits = 6

/** A number as people read it, with its unit. */
function shown(value: number, unit: string): string {
  const number = String(Number(value.toPrecision(digits)))
  return unit === '' ? number : `${number} ${unit}`
}

/** What has happened to a rule, in one line. */
export function messageOf(rule: RuleRow, group: string | null, value: number | undefined): string {
  const { metric, condition, threshold, window_seconds: seconds, group_by: grouping } = rule
  const { unit } = metricOf(metric)
  const of = group === null ? '' : ` of ${grouping} ${group}`
  const is = value === undefined ? 'has no data' : `is ${shown(value, unit)}`
  return `${metric}${of} ${is} over ${durationOf(seconds)} (rule: ${signs[condition]} ${shown(threshold, unit)})`
}

/** Seconds in the largest unit that divides them. */
function durationOf(seconds: number): string {
  const units = [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'min'],
  ] as const
  const [size, name] = units.find(([size]) => seconds % size === 0) ?? [1, 's']
  return `${seconds / size} ${name}`
}
