import type { Accounts } from './accounts.ts'
import type { Config } from './config.ts'
import { token } from './container.ts'
import type { Directory } from './directory.ts'
import type { Prices } from './prices.ts'
import type { Prober } from './probe.ts'
import type { ProviderKeys } from './provider-keys.ts'
import type { Queues } from './queues.ts'
import type { Registry } from './registry.ts'
import type { Reloader } from './reloader.ts'
import type { Secrets } from './secrets.ts'

/** What the process is and how long it has been. */
export interface Runtime {
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
}

/** The kernel's own services, for plugins with the permission `kernel`. */
export const kernelServices = {
  accounts: token<Accounts>('kernel/accounts'),
  config: token<Config>('kernel/config'),
  directory: token<Directory>('kernel/directory'),
  prices: token<Prices>('kernel/prices'),
  prober: token<Prober>('kernel/prober'),
  providerKeys: token<ProviderKeys>('kernel/provider-keys'),
  queues: token<Queues>('kernel/queues'),
  registry: token<Registry>('kernel/registry'),
  reloader: token<Reloader>('kernel/reloader'),
  runtime: token<Runtime>('kernel/runtime'),
  secrets: token<Secrets>('kernel/secrets'),
} as const

/** Offered by who gives models other names. */
export interface ModelNames {
  names(): readonly string[]
}

export const ModelAliases = token<ModelNames>('model-aliases')
