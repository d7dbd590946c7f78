import { type BurstResult, burst } from '../cold.ts'
import { measure } from '../measure.ts'
import type { Settings } from '../settings.ts'
import { median, quantile } from '../statistics.ts'
import type { Row, Table } from '../table.ts'
import type { Target } from '../target.ts'

const CONNECTIONS = 256

/** Many connections opened at one moment, each for one call, beside the same number kept open and warm. */
export async function measureCold(
  targets: readonly Target[],
  settings: Settings,
  report: (line: string) => void,
): Promise<Table> {
  const cold = new Map<Target, BurstResult[]>(targets.map((target) => [target, []]))
  const warm = new Map<Target, number[]>(targets.map((target) => [target, []]))
  const { warmupMs, durationMs } = settings
  for (let round = 1; round <= settings.rounds; round += 1) {
    for (const target of targets) {
      const sample = await measure(target, { connections: CONNECTIONS, warmupMs, durationMs })
      warm.get(target)?.push(sample.p99Ms)
      cold.get(target)?.push(await burst(target, CONNECTIONS))
      report(`round ${round}/${settings.rounds} ${target.name}: warm p99 ${sample.p99Ms.toFixed(1)} ms`)
    }
  }
  const rows = targets.map((target): Row => {
    const rounds = cold.get(target) ?? []
    return {
      server: target.name,
      cold_p50_ms: median(rounds.map(({ times }) => quantile(times, 0.5))),
      cold_p99_ms: median(rounds.map(({ times }) => quantile(times, 0.99))),
      warm_p99_ms: median(warm.get(target) ?? []),
      cold_failed: rounds.reduce((sum, { failed }) => sum + failed, 0),
    }
  })
  const note = `${CONNECTIONS} new connections at one moment, each from its opening to the end of its one reply; and the same number of open connections, each with one call after another.`
  return { title: 'New connections', notes: [note], rows }
}
