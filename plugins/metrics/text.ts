import { type Family, read, summed } from './families.ts'
import type { Sums } from './sums.ts'

/** What was read of the gateway, by the name of the metric. */
export interface Reading {
  readonly family: Family
  readonly labels: string
  readonly value: number
}

/** Everything in the text format of Prometheus, version 0.0.4. Metrics without a sample are left out. */
export function exposition({ counters, histograms }: Sums, readings: readonly Reading[]): string {
  const lines: string[] = []
  for (const family of Object.values<Family>(summed)) {
    const { name, scale = 1 } = family
    const sums = counters.get(name)
    const buckets = histograms.get(name)
    if (sums || buckets) begin(lines, family)
    for (const [labels, sum] of sums ?? []) lines.push(sample(name, labels, sum * scale))
    for (const [labels, counts] of buckets ?? []) distribution(lines, family, labels, counts)
  }
  for (const family of Object.values<Family>(read)) {
    const own = readings.filter((reading) => reading.family === family)
    if (own.length === 0) continue
    begin(lines, family)
    for (const { labels, value } of own) lines.push(sample(family.name, labels, value))
  }
  return lines.map((line) => `${line}\n`).join('')
}

const begin = (lines: string[], { name, help, type }: Family): void => {
  lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
}

const sample = (name: string, labels: string, value: number): string =>
  labels === '' ? `${name} ${value}` : `${name}{${labels}} ${value}`

/** The buckets of a histogram, each with all that are below it, and their sum and number. */
function distribution(lines: string[], family: Family, labels: string, counts: readonly number[]): void {
  const { name, bounds = [] } = family
  const before = labels === '' ? '' : `${labels},`
  let number = 0
  for (const [i, bound] of [...bounds, '+Inf'].entries()) {
    number += counts[i]!
    lines.push(sample(`${name}_bucket`, `${before}le="${bound}"`, number))
  }
  lines.push(
    sample(`${name}_sum`, labels, counts[bounds.length + 1]!),
    sample(`${name}_count`, labels, number),
  )
}
