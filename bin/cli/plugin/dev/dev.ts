import { once } from 'node:events'
import { watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { read } from '../../../../gateway/discovery/read.ts'
import type { Manifest } from '../../../../kernel/discovery/manifest.ts'
import { explain } from '../../../../kit/explain.ts'
import { contain, detach } from '../../../../kit/work/contain.ts'
import { idOf, selfCopied } from '../../../../test/plugin-dirs.ts'
import type { News } from './news.ts'
import { render } from './render.ts'
import { Verdicts } from './verdicts.ts'
import { Workbench } from './workbench.ts'

export interface DevOptions {
  readonly json?: boolean
  /** Load it, try it and check it once, and end. */
  readonly once?: boolean
}

/** Milliseconds without another change after which what was saved is loaded. */
const restMs = 150

/**
 * `switchyard plugin dev`: shows what the plugin in a folder does to a call, again whenever a file is saved or a call is typed, until
 * SIGINT or SIGTERM. Ends with exit code 0; with `once` 1 when the plugin does not run or a check fails.
 */
export async function dev(folder: string, { json = false, once: isOnce = false }: DevOptions): Promise<void> {
  const at = path.resolve(folder)
  const tell = (news: News): void => console.log(json ? JSON.stringify(news) : render(news))
  const there = await stat(at).catch(() => undefined)
  if (!there?.isDirectory()) {
    tell({ event: 'refused', problem: `there is no folder ${at}`, runs_on: false })
    process.exit(1)
  }
  const { manifest, problem } = await read(at, 'local', await idOf(at))
  const copied = await selfCopied(at)
  if (!manifest || copied !== undefined) {
    tell({ event: 'refused', problem: problem ?? copied ?? `there is no plugin in ${at}`, runs_on: false })
    process.exit(1)
  }
  const { id, kind, version } = manifest
  tell({
    event: 'started',
    plugin: { id, kind, version, folder: path.relative('', at) || '.' },
    watches: !isOnce,
  })
  const code = await work(at, manifest, tell, isOnce)
  // The plugin may have left something running.
  process.exit(code)
}

async function work(
  folder: string,
  manifest: Manifest,
  tell: (news: News) => void,
  isOnce: boolean,
): Promise<number> {
  const bench = await Workbench.start(folder, manifest, tell)
  const verdicts = await Verdicts.start(folder, tell)
  const ended = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  try {
    if (isOnce) return (await bench.load()) && (await verdicts.look()) ? 0 : 1
    let turn: Promise<unknown> = Promise.resolve()
    const next = (run: () => Promise<unknown>): void => {
      turn = turn.then(run).catch((error: unknown) => tell({ event: 'problem', problem: explain(error) }))
    }
    const load = (): void => {
      next(() => bench.load())
      detach('the checks', verdicts.look())
    }
    const stopWatching = onSave(folder, load)
    const input = createInterface({ input: process.stdin })
    input.on(
      'line',
      contain('a typed line', (line: string) => {
        if (line.trim() !== '') next(() => bench.type(line.trim()))
      }),
    )
    load()
    await ended
    const closed = verdicts.close()
    stopWatching()
    input.close()
    await Promise.all([turn, closed])
    return 0
  } finally {
    await verdicts.close()
    await bench.close()
  }
}

/** Calls back when something in a folder was changed and nothing more for a moment; returns what ends that. */
function onSave(folder: string, saved: () => void): () => void {
  let rest: NodeJS.Timeout | undefined
  const changed = contain('a saved file', (_event: string, file: string | null) => {
    if (file?.split(path.sep).some((name) => /^\.|^node_modules$/.test(name))) return
    clearTimeout(rest)
    rest = setTimeout(contain('a saved plugin', saved), restMs)
  })
  const watcher = watch(folder, { recursive: true }, changed)
  return () => {
    clearTimeout(rest)
    watcher.close()
  }
}
