import { compare, type Sample } from '../measure.ts'
import type { Settings } from '../settings.ts'
import type { Row, Table } from '../table.ts'
import type { Target } from '../target.ts'

/** Unstreamed calls: throughput, CPU, latency and memory of each target, at each number of connections. */
export async function measurePlain(
  targets: readonly Target[],
  baseline: Target,
  settings: Settings,
  report: (line: string) => void,
): Promise<Table> {
  const rows: Row[] = []
  for (const connections of settings.connections) {
    const { warmupMs, durationMs, rounds } = settings
    const samples = await compare(targets, { connections, warmupMs, durationMs }, rounds, report)
    const floor = samples.get(baseline)
    for (const [target, sample] of samples) rows.push(row(connections, target, sample, floor))
  }
  return {
    title: 'Plain calls',
    notes: [
      'CPU is user and system time of the server process. `per_core_second` is how many calls a whole core would do at that cost, and `cpu_ratio` how many times the CPU of the bare proxy a call takes: both hold still when something else wants the core.',
    ],
    rows,
  }
}

function row(connections: number, target: Target, sample: Sample, floor: Sample | undefined): Row {
  const through = target.name !== 'direct'
  return {
    connections,
    server: target.name,
    per_second: sample.perSecond,
    cpu_us: sample.cpuMicros,
    per_core_second: through ? 1e6 / sample.cpuMicros : Number.NaN,
    cpu_ratio: through && floor ? sample.cpuMicros / floor.cpuMicros : Number.NaN,
    core_used_pct: Math.round(sample.busy * 100),
    p50_ms: sample.p50Ms,
    p99_ms: sample.p99Ms,
    rss_mb: Math.round(sample.rssMb),
    failed: failures(sample),
  }
}

/** `none`, or how many failed in which way. */
export function failures({ failures }: Pick<Sample, 'failures'>): string {
  const kinds = Object.entries(failures).map(([kind, count]) => `${count} × ${kind}`)
  return kinds.length === 0 ? 'none' : kinds.join(', ')
}
