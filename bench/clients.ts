import { describeMachine } from './machine.ts'
import { compare, warmUp } from './measure.ts'
import { LOAD_CORE, NodeProcess, pinSelf } from './process.ts'
import { type Chapter, chapterText, saveChapter } from './results.ts'
import type { Transport } from './servers/bare.ts'
import { readSettings, type Settings } from './settings.ts'
import type { Row } from './table.ts'
import { startBare, type Target } from './target.ts'

const TRANSPORTS: readonly Transport[] = ['dispatch', 'stream', 'request']

function report(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** The same bare proxy three times, each with another of undici's calls behind it. */
async function compareTransports(settings: Settings): Promise<Row[]> {
  const rows: Row[] = []
  await using stack = new AsyncDisposableStack()
  const upstream = new NodeProcess({
    file: new URL('upstream.ts', import.meta.url).pathname,
    core: LOAD_CORE,
  })
  stack.defer(() => upstream.stop())
  const port = await upstream.receive('port')
  const targets: Target[] = []
  for (const transport of TRANSPORTS) {
    targets.push(stack.adopt(await startBare(port, transport), (target) => target.stop()))
  }
  for (const pace of [undefined, 'burst'] as const) {
    const kind = pace === undefined ? {} : { pace }
    await warmUp(targets, settings, pace)
    for (const connections of settings.connections) {
      const { warmupMs, durationMs, rounds } = settings
      const round = { connections, warmupMs, durationMs, ...kind }
      const samples = await compare(targets, round, rounds, report)
      const floor = samples.get(targets[0]!)
      for (const [target, sample] of samples) {
        rows.push({
          call: pace === undefined ? 'plain' : 'stream',
          connections,
          transport: target.name.replace('bare ', ''),
          per_second: sample.perSecond,
          cpu_us: sample.cpuMicros,
          cpu_ratio: sample.cpuMicros / (floor?.cpuMicros ?? Number.NaN),
          p50_ms: sample.p50Ms,
          p99_ms: sample.p99Ms,
          rss_mb: Math.round(sample.rssMb),
        })
      }
    }
  }
  return rows
}

const settings = readSettings(process.argv.slice(2))
pinSelf()
const chapter: Chapter = {
  title: 'Choice of transport',
  machine: describeMachine(),
  notes: [`Medians of ${settings.rounds} interleaved rounds of ${settings.durationMs / 1000} s each.`],
  tables: [{ title: "undici's calls under node:http", notes: [], rows: await compareTransports(settings) }],
}
if (!settings.json && !settings.quick) saveChapter(chapter)
process.stdout.write(`${settings.json ? JSON.stringify(chapter, null, 2) : chapterText(chapter)}\n`)
