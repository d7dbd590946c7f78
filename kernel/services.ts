import type { Accounts } from '../accounts/accounts.ts'
import type { Config } from '../config/config.ts'
import type { Environment } from '../config/references.ts'
import type { Cohort } from '../kit/work/cohort.ts'
import type { Engine, StoredPart, StoreHealth } from '../storage/index.ts'
import type { Personal } from './contract/personal-data.ts'
import type { Secrets } from './contract/secrets.ts'
import type { EventCatalogue } from './events/catalogue.ts'
import type { Registry } from './plugin/registry.ts'
import type { Reloader } from './plugin/reloader.ts'
import type { Queues } from './queues.ts'
import type { Refusals } from './refusals.ts'
import type { Threads } from './threads/threads.ts'
import { guardedToken } from './token.ts'

/** The running process: its version, its start, and whether it drains. */
export interface Runtime {
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** The number of this thread of the gateway; 1 for the first. */
  readonly thread: number
  /** Whether the gateway is about to stop, so that balancers should look elsewhere. */
  readonly isDraining: boolean
}

/** How the store is: whether it takes changes, and whether its disk has room for what can be done without. */
export interface StoreState {
  readonly health: StoreHealth
  /** Whether there is more free space than the configuration asks for. */
  readonly hasRoom: boolean
  /** The problem, in words for every reader; undefined when there is none. */
  readonly problem: string | undefined
  /** Whether the gateway was killed before this start, so that sums may be behind what they sum up. */
  readonly endedUncleanly: boolean
}

/** What plugins have stored, by their ids. */
export interface PluginData {
  /**
   * Creates the folder for files of a plugin and its bindings that other programs read, which only the gateway's own user can
   * enter, and returns its path.
   */
  folder(plugin: { readonly id: string }): Promise<string>
  /** The stored data of a plugin and its bindings; paths begin with the plugin's name, or with that, `_` and the binding's. */
  stored(id: string): Promise<readonly StoredPart[]>
  /** Erases that, and the files; whether there was anything. No plugin with the id may exist or appear meanwhile. */
  erase(id: string): Promise<boolean>
}

/** The kernel's own services. Each asks for the permission `service:<name>`. */
export const kernelServices = {
  accounts: guardedToken<Accounts>('accounts'),
  cohort: guardedToken<Cohort>('cohort'),
  config: guardedToken<Config>('config'),
  environment: guardedToken<Environment>('environment'),
  events: guardedToken<EventCatalogue>('events'),
  files: guardedToken<Pick<PluginData, 'folder'>>('files'),
  personal: guardedToken<Personal>('personal-data'),
  queues: guardedToken<Queues>('queues'),
  refusals: guardedToken<Refusals>('refusals'),
  registry: guardedToken<Registry>('registry'),
  reloader: guardedToken<Reloader>('reloader'),
  pluginData: guardedToken<PluginData>('plugin-data'),
  runtime: guardedToken<Runtime>('runtime'),
  secrets: guardedToken<Secrets>('secrets'),
  storage: guardedToken<Pick<Engine, 'compact' | 'copyTo' | 'contents' | 'erase' | 'namespace'>>('storage'),
  storeState: guardedToken<StoreState>('store-state'),
  threads: guardedToken<Threads>('threads'),
} as const
