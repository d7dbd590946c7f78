import { Accounts } from '../accounts/accounts.ts'
import { firstAdminKey } from '../accounts/first-key.ts'
import { type Config, ConfigError } from '../config/config.ts'
import { placed } from '../config/lines.ts'
import { isolateWithin } from '../isolation/isolate.ts'
import { type BootOptions, boot, type Kernel } from '../kernel/boot.ts'
import type { Discovered } from '../kernel/discovery/manifest.ts'
import type { Log } from '../kernel/log.ts'
import { onContained, tellContained } from '../kit/work/contain.ts'
import { Scope } from '../kit/work/scope.ts'
import { Egress } from '../network/egress.ts'
import { networkOf } from '../network/network.ts'
import { PostingThread } from '../network/posting-thread.ts'
import { shadow } from '../shadow/hooks.ts'
import { Stage } from '../staging/stage.ts'
import { configuredPlugins } from './configured.ts'
import { discoverPlugins, missingFolders } from './discovery/discovery.ts'
import { FolderReloader } from './discovery/folder-reloader.ts'
import { DiskData } from './disk-data.ts'
import { StoredJournal } from './journal/stored-journal.ts'
import { createLog } from './log.ts'
import { openStore, type ThreadParts } from './open-store.ts'
import { personalOf } from './personal-data.ts'
import { openSecrets } from './secrets/open-secrets.ts'
import { forwardTo } from './threads/forward.ts'
import { relayEvents } from './threads/relay.ts'
import { ThreadPool } from './threads/thread-pool.ts'
import { packageVersion } from './version.ts'

export interface GatewayOptions extends Pick<BootOptions, 'freezeAll'> {
  readonly config: Config
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log?: Log
  /** Runs before any plugin does, such as to end what a killed command had begun with installed packages. */
  readonly upkeep?: (found: readonly Discovered[], data: DiskData) => Promise<void>
  /** Of a further thread, which answers model calls and forwards the rest. */
  readonly thread?: ThreadParts
}

/** A kernel with all that it stands on. */
export interface Gateway extends Kernel {
  /** The admin key that was made at this first start; it is shown once and kept nowhere. */
  readonly newAdminKey: string | undefined
}

/**
 * Opens a gateway in this thread: the store, the plugins on disk, a kernel, and further threads where the configuration has
 * them. Closing the kernel that it resolves with closes all of that.
 */
export async function openGateway({
  config,
  env,
  log = createLog({ level: config.logLevel }),
  upkeep,
  freezeAll,
  thread,
}: GatewayOptions): Promise<Gateway> {
  const scope = new Scope('gateway')
  scope.own(
    onContained((origin, err) => log.error({ err, origin }, 'an uncaught error in a background task')),
  )
  try {
    const secrets = await openSecrets({ dataDir: config.dataDir, passphrase: config.encryptionKey })
    const { engine, relay, first, staged, state } = await openStore(config, thread, log, scope)
    const stage = await Stage.open(staged, (error) => tellContained('a copy of a plugin', error))
    scope.own(() => stage.close())
    for (const folder of thread ? [] : await missingFolders(config.pluginDirs))
      log.warn({ folder }, 'a folder of plugin_dirs is not there')
    const found = await discoverPlugins(config, stage)
    const { allow } = config.egress
    const poster = new PostingThread(allow)
    scope.own(() => poster.close())
    const pluginData = new DiskData(engine, config.dataDir)
    if (!thread) await upkeep?.(found, pluginData)
    const accounts = await Accounts.open(engine.namespace('kernel'))
    if (config.adminKey) accounts.adopt(config.adminKey)
    const kernel = await boot({
      config,
      env,
      log,
      version: packageVersion(),
      secrets,
      engine,
      accounts,
      relay,
      storeState: state,
      reloader: (registry) =>
        new FolderReloader(registry, {
          find: (again) => discoverPlugins(config, stage, again),
          settle: () => stage.settle(),
        }),
      found,
      configured: await configuredPlugins(config, found),
      pluginData,
      journal: thread ? undefined : new StoredJournal(engine.namespace('kernel'), pluginData.settings),
      personal: (registry) => personalOf(registry, engine, log),
      network: networkOf(new Egress(allow), poster),
      isolation: isolateWithin(config.workers, allow),
      shadow,
      freezeAll,
      others: first && ((parts) => new ThreadPool({ config, env, log, ...first, ...parts })),
      thread: thread && { ...thread, forward: forwardTo(thread.main), onward: relayEvents(thread.relay) },
    })
    scope.own(() => kernel.close())
    // The last step, so that a failed start does not make a key that is never shown.
    const newAdminKey = config.adminKey || thread ? undefined : await firstAdminKey(accounts.keys)
    return { ...kernel, newAdminKey, close: () => scope.dispose() }
  } catch (error) {
    await scope.dispose().catch(() => {})
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(error.problems.map((problem) => placed(problem, config.source)))
  }
}
