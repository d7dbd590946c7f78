import type { Config } from '../config/config.ts'
import type { Environment } from '../config/references.ts'
import type { Engine } from '../storage/index.ts'
import type { Accounts } from './auth/accounts.ts'
import type { Cohort } from './cohort.ts'
import type { Personal } from './contract/personal-data.ts'
import type { EventCatalogue } from './events/catalogue.ts'
import type { PluginData } from './plugin/plugin-data.ts'
import type { PluginFiles } from './plugin/plugin-files.ts'
import type { Registry } from './plugin/registry.ts'
import type { Reloader } from './plugin/reloader.ts'
import type { Queues } from './queues.ts'
import type { Refusals } from './refusals.ts'
import type { Secrets } from './secrets/secrets.ts'
import type { StoreState } from './store-state.ts'
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

/** The kernel's own services. Each asks for the permission `service:<name>`. */
export const kernelServices = {
  accounts: guardedToken<Accounts>('accounts'),
  cohort: guardedToken<Cohort>('cohort'),
  config: guardedToken<Config>('config'),
  environment: guardedToken<Environment>('environment'),
  events: guardedToken<EventCatalogue>('events'),
  files: guardedToken<Pick<PluginFiles, 'folder'>>('files'),
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
