import { compare, type Sample } from '../measure.ts'
import { type Pace, STREAM_EVENTS } from '../request.ts'
import type { Settings } from '../settings.ts'
import type { Row, Table } from '../table.ts'
import type { Target } from '../target.ts'
import { failures } from './plain.ts'

type Report = (line: string) => void

/** Streams that the upstream sends in one piece: how many events a second go through, at what cost. */
export async function measureBursts(
  targets: readonly Target[],
  baseline: Target,
  settings: Settings,
  report: Report,
): Promise<Table> {
  const rows = await rowsOf(
    targets,
    settings,
    report,
    () => 'burst',
    (connections, target, sample, samples) => {
      const floor = samples.get(baseline)
      return {
        connections,
        server: target.name,
        events_per_second: sample.eventsPerSecond,
        cpu_us_per_stream: sample.cpuMicros,
        cpu_ratio: target.name !== 'direct' && floor ? sample.cpuMicros / floor.cpuMicros : Number.NaN,
        p50_ms: sample.p50Ms,
        p99_ms: sample.p99Ms,
        ...counted(sample),
      }
    },
  )
  return { title: `Streams of ${STREAM_EVENTS} events, sent at once`, notes: [], rows }
}

/** Streams with a pause before each event: how much later the first event comes than through the bare proxy. */
export async function measurePaced(
  targets: readonly Target[],
  baseline: Target,
  settings: Settings,
  report: Report,
): Promise<Table> {
  const rows = await rowsOf(targets, settings, report, paceOf, (connections, target, sample, samples) => ({
    connections,
    server: target.name,
    ms_between_events: paceOf(connections),
    first_event_ms: sample.firstEventMs,
    added_ms: sample.firstEventMs - (samples.get(baseline)?.firstEventMs ?? Number.NaN),
    events_per_second: sample.eventsPerSecond,
    cpu_us_per_event: (sample.busy * 1e6) / sample.eventsPerSecond,
    rss_mb: Math.round(sample.rssMb),
    ...counted(sample),
  }))
  const note =
    'Times are medians, from the request to the first event with content; `added` is over the bare proxy.'
  return { title: `Streams of ${STREAM_EVENTS} events, one at a time`, notes: [note], rows }
}

/** Slower with more connections, so that the load stays below what the upstream's core can send. */
function paceOf(connections: number): number {
  return connections >= 100 ? 20 : connections >= 10 ? 10 : 2
}

async function rowsOf(
  targets: readonly Target[],
  settings: Settings,
  report: Report,
  pace: (connections: number) => Pace,
  row: (connections: number, target: Target, sample: Sample, samples: Map<Target, Sample>) => Row,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const connections of settings.connections) {
    const { warmupMs, durationMs, rounds } = settings
    const round = { connections, warmupMs, durationMs, pace: pace(connections) }
    const samples = await compare(targets, round, rounds, report)
    for (const [target, sample] of samples) rows.push(row(connections, target, sample, samples))
  }
  return rows
}

/** Streams that ended in the window, and those among all that did not have exactly their events in order. */
function counted(sample: Sample): Row {
  return { streams: sample.calls, broken: sample.broken, failed: failures(sample) }
}
