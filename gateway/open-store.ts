import path from 'node:path'
import type { Config } from '../config/config.ts'
import type { Log } from '../kernel/log.ts'
import { oneThread, type Relay } from '../kernel/plugin/relay.ts'
import { repeat } from '../kit/work/repeat.ts'
import type { Scope } from '../kit/work/scope.ts'
import type { Engine, StoreProblem } from '../storage/index.ts'
import { openLevel } from '../storage/level.ts'
import { type SharedEngine, shareEngine } from '../storage/shared.ts'
import { StoreWatch } from './store-watch.ts'
import type { ThreadData } from './threads/methods.ts'
import { FirstRelay, type ThreadRelay } from './threads/relay.ts'

/** The parts that a further thread of a gateway gets from the first one. */
export interface ThreadParts
  extends Pick<ThreadData, 'number' | 'port' | 'main' | 'startedAt' | 'generation'> {
  readonly engine: Engine
  readonly relay: ThreadRelay
}

/** The store of a kernel, and its way to the first thread. */
export interface OpenedStore {
  readonly engine: Engine
  readonly relay: Relay
  /** In the first of several threads: what the others need of it. */
  readonly first: { readonly shared: SharedEngine; readonly relay: FirstRelay } | undefined
  /** Folder of the copies that this thread imports plugins from. */
  readonly staged: string
  readonly state: StoreWatch
}

/** How often free space is looked at, in milliseconds. */
const lookMs = 5_000

/** Opens the store of this process, or takes what the first thread has given. */
export async function openStore(
  { dataDir, server, storage }: Config,
  thread: ThreadParts | undefined,
  log: Log,
  scope: Scope,
): Promise<OpenedStore> {
  const state = new StoreWatch({ folder: dataDir, minFree: storage.minFree, log: thread ? undefined : log })
  await state.look()
  scope.own(
    repeat(
      lookMs,
      () => state.look(),
      (err) => log.error({ err }, 'free space cannot be seen'),
    ),
  )
  if (thread) {
    const { engine, relay, number } = thread
    scope.own(() => engine.close())
    scope.own(() => relay.flush())
    const staged = path.join(dataDir, 'threads', `${number}`, 'staged')
    return { engine, relay, first: undefined, staged, state }
  }
  const staged = path.join(dataDir, 'staged')
  const report = ({ message, ...place }: StoreProblem): void => log.error(place, message)
  const level = await openLevel(path.join(dataDir, 'db'), {
    report,
    changed: (health) => state.take(health),
    unclean: () => {
      state.endedUncleanly = true
    },
  })
  scope.own(() => level.close())
  if (server.threads === 1) return { engine: level, relay: oneThread, first: undefined, staged, state }
  const first = { shared: shareEngine(level), relay: new FirstRelay() }
  const engine = first.shared.open({ report, failed: (err) => log.error({ err }, 'the store failed') })
  scope.own(() => engine.close())
  return { engine, relay: first.relay, first, staged, state }
}
