import { type LoadResult, load } from './load.ts'
import type { NodeProcess } from './process.ts'
import { type Pace, RequestTemplate, STREAM_EVENTS } from './request.ts'
import type { Settings } from './settings.ts'
import { median, quantile } from './statistics.ts'
import { callOf, type Target, verify } from './target.ts'

/** What one round of load against one target showed. */
export interface Sample {
  readonly perSecond: number
  /** CPU of the server process for one call, user and system, in microseconds. */
  readonly cpuMicros: number
  /** Share of one core that the server used, 0 to 1. */
  readonly busy: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly rssMb: number
  readonly firstEventMs: number
  readonly eventsPerSecond: number
  readonly calls: number
  /** Calls outside of the measured window included. */
  readonly ended: number
  readonly broken: number
  readonly failures: Readonly<Record<string, number>>
}

export interface Round {
  readonly connections: number
  readonly pace?: Pace
  readonly warmupMs: number
  readonly durationMs: number
}

/** Puts one round of load on a target. */
export async function measure(target: Target, round: Round): Promise<Sample> {
  const cpu = { begin: 0, end: 0 }
  const result = await load({
    port: target.port,
    request: RequestTemplate.build(callOf(target), target.headers, round.pace),
    connections: round.connections,
    ...(round.pace !== undefined && { events: callOf(target) }),
    // Streams that all began together would stay together, and each event would come as a crowd.
    spreadMs: typeof round.pace === 'number' ? round.pace * STREAM_EVENTS : 0,
    warmupMs: round.warmupMs,
    durationMs: round.durationMs,
    onWindow: (edge) => {
      cpu[edge] = target.process.cpuMicros()
    },
  })
  return sampleOf(result, cpu.end - cpu.begin, target.process)
}

function sampleOf(result: LoadResult, cpuMicros: number, process: NodeProcess): Sample {
  return {
    perSecond: result.calls / result.seconds,
    cpuMicros: cpuMicros / result.calls,
    busy: cpuMicros / 1e6 / result.seconds,
    p50Ms: quantile(result.latencies, 0.5),
    p99Ms: quantile(result.latencies, 0.99),
    rssMb: process.rssMb(),
    firstEventMs: quantile(result.firstEvents, 0.5),
    eventsPerSecond: result.events / result.seconds,
    calls: result.calls,
    ended: result.ended,
    broken: result.broken,
    failures: result.failures,
  }
}

/** Makes sure that each target answers, and gives it work until its code is compiled, unmeasured. */
export async function warmUp(
  targets: readonly Target[],
  { warmupServerMs }: Pick<Settings, 'warmupServerMs'>,
  pace?: Pace,
): Promise<void> {
  for (const target of targets) await verify(target)
  const round = { connections: 32, warmupMs: 0, durationMs: warmupServerMs }
  for (const target of targets) await measure(target, pace === undefined ? round : { ...round, pace })
}

/** A target's rounds in one: medians of the figures, sums of the counts. */
export function summarize(samples: readonly Sample[]): Sample {
  const of = (field: (sample: Sample) => number) => median(samples.map(field))
  const sum = (field: (sample: Sample) => number) => samples.reduce((total, s) => total + field(s), 0)
  const failures: Record<string, number> = {}
  for (const sample of samples) {
    for (const [kind, count] of Object.entries(sample.failures))
      failures[kind] = (failures[kind] ?? 0) + count
  }
  return {
    perSecond: of((s) => s.perSecond),
    cpuMicros: of((s) => s.cpuMicros),
    busy: of((s) => s.busy),
    p50Ms: of((s) => s.p50Ms),
    p99Ms: of((s) => s.p99Ms),
    rssMb: of((s) => s.rssMb),
    firstEventMs: of((s) => s.firstEventMs),
    eventsPerSecond: of((s) => s.eventsPerSecond),
    calls: sum((s) => s.calls),
    ended: sum((s) => s.ended),
    broken: sum((s) => s.broken),
    failures,
  }
}

/** Rounds A B C A B C …, so that what disturbs the machine disturbs all alike; a summary for each target. */
export async function compare(
  targets: readonly Target[],
  round: Round,
  rounds: number,
  report: (line: string) => void,
): Promise<Map<Target, Sample>> {
  const samples = new Map<Target, Sample[]>(targets.map((target) => [target, []]))
  for (let index = 0; index < rounds; index += 1) {
    for (const target of targets) {
      const sample = await measure(target, round)
      samples.get(target)?.push(sample)
      report(
        `round ${index + 1}/${rounds} ${target.name}: ${sample.perSecond.toFixed(0)}/s ${sample.cpuMicros.toFixed(0)} µs`,
      )
    }
  }
  return new Map([...samples].map(([target, all]) => [target, summarize(all)]))
}
