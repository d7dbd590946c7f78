import { resolve } from 'node:path'
import { hasGateway, startGateway } from './gateway.ts'
import { describeMachine } from './machine.ts'
import { warmUp } from './measure.ts'
import { startPortkey } from './portkey.ts'
import { LOAD_CORE, NodeProcess, pinSelf } from './process.ts'
import { type Chapter, chapterText, saveChapter } from './results.ts'
import { measureCold } from './scenarios/cold.ts'
import { measureEachModule } from './scenarios/each-module.ts'
import { measureModules } from './scenarios/modules.ts'
import { measurePlain } from './scenarios/plain.ts'
import { measureStart } from './scenarios/start.ts'
import { measureStore } from './scenarios/store.ts'
import { measureBursts, measurePaced } from './scenarios/streams.ts'
import { measureWires } from './scenarios/wires.ts'
import { readSettings, type Settings, USAGE } from './settings.ts'
import type { Table } from './table.ts'
import { direct, startBare, startKoa, type Target } from './target.ts'

function report(line: string): void {
  process.stderr.write(`${line}\n`)
}

async function* run(settings: Settings): AsyncGenerator<Chapter> {
  const machine = describeMachine()
  const chapter = (title: string, tables: readonly Table[], notes = [roundsOf(settings)]): Chapter => ({
    title,
    machine,
    notes,
    tables,
  })
  const wants = (...names: Settings['scenarios']) => names.some((name) => settings.scenarios.includes(name))
  await using stack = new AsyncDisposableStack()
  const upstream = new NodeProcess({
    file: new URL('upstream.ts', import.meta.url).pathname,
    core: LOAD_CORE,
  })
  stack.defer(() => upstream.stop())
  const port = await upstream.receive('port')

  if (wants('plain', 'streams', 'cold')) {
    const tables: Table[] = []
    const { targets, bare } = await startTargets(upstream, port, settings, stack)
    report('warming up')
    await warmUp(targets, settings)
    if (wants('streams')) await warmUp(targets, settings, 'burst')
    if (wants('plain')) tables.push(await measurePlain(targets, bare, settings, report))
    if (wants('streams')) {
      tables.push(await measureBursts(targets, bare, settings, report))
      tables.push(await measurePaced(targets, bare, settings, report))
    }
    if (wants('cold')) tables.push(await measureCold(targets, settings, report))
    for (const target of targets) await target.stop()
    yield chapter('Gateway and baselines', tables)
  }
  if (wants('start') && hasGateway()) yield chapter('Start', [await measureStart(settings, report)])
  if (wants('modules') && hasGateway()) {
    yield chapter('Module chain', [await measureModules(upstream, port, settings, report)])
  }
  if (wants('each') && hasGateway()) {
    yield chapter('Each module', [await measureEachModule(port, settings, report)])
  }
  if (wants('wires') && hasGateway()) yield chapter('Wires', [await measureWires(port, settings, report)])
  if (wants('store')) yield chapter('Store', await measureStore(settings.traces, report), [])
}

function roundsOf({ rounds, durationMs }: Settings): string {
  return `Medians of ${rounds} interleaved rounds of ${durationMs / 1000} s each.`
}

/** The upstream itself first, then the floor, what stands on this stack, the gateway, and a peer if asked for. */
async function startTargets(
  upstream: NodeProcess,
  port: number,
  settings: Settings,
  stack: AsyncDisposableStack,
): Promise<{ targets: Target[]; bare: Target }> {
  const started = <T extends Target>(target: T) => stack.adopt(target, (target) => target.stop())
  const bare = started(await startBare(port))
  const targets = [direct(upstream, port), bare, started(await startKoa(port))]
  if (hasGateway()) targets.push(started(await startGateway(port)))
  else report('bin/main.ts is not there: measuring the baselines only')
  if (settings.against) {
    targets.push(started(await startGateway(port, 'gateway before', resolve(settings.against))))
  }
  if (settings.portkey) targets.push(started(await startPortkey(port)))
  return { targets, bare }
}

let settings: Settings
try {
  settings = readSettings(process.argv.slice(2))
} catch (error) {
  report(`${(error as Error).message}\n${USAGE}`)
  process.exit(2)
}

pinSelf()
const chapters: Chapter[] = []
for await (const chapter of run(settings)) {
  chapters.push(chapter)
  if (!settings.json && !settings.quick) saveChapter(chapter)
  if (!settings.json) process.stdout.write(`${chapterText(chapter)}\n\n`)
}
if (settings.json) process.stdout.write(`${JSON.stringify(chapters, null, 2)}\n`)
