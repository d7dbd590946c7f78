import type { Accounts } from './accounts.ts'
import type { Principal } from './call/call.ts'
import type { Catalogue } from './catalogue.ts'
import type { Config } from './config.ts'
import { token } from './container.ts'
import type { Registry } from './plugin/registry.ts'
import type { Reloader } from './plugin/reloader.ts'
import type { Remains } from './plugin/remains.ts'
import type { Prices } from './prices.ts'
import type { Queues } from './queues.ts'
import type { Secrets } from './secrets.ts'
import type { StoreState } from './store-state.ts'
import type { Threads } from './threads/sums.ts'
import type { TokenCounter } from './tokens/counter.ts'
import type { Directory } from './upstream/directory.ts'
import type { Prober } from './upstream/probe.ts'
import type { ProviderKeys } from './upstream/provider-keys.ts'
import type { RouteTable } from './upstream/route-table.ts'
import type { TokenInquiry } from './upstream/token-inquiry.ts'

/** What the process is and how long it has been. */
export interface Runtime {
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
}

/** The kernel's own services, for plugins with the permission `kernel`. */
export const kernelServices = {
  accounts: token<Accounts>('kernel/accounts'),
  catalogue: token<Catalogue>('kernel/catalogue'),
  config: token<Config>('kernel/config'),
  directory: token<Directory>('kernel/directory'),
  prices: token<Prices>('kernel/prices'),
  prober: token<Prober>('kernel/prober'),
  providerKeys: token<ProviderKeys>('kernel/provider-keys'),
  queues: token<Queues>('kernel/queues'),
  registry: token<Registry>('kernel/registry'),
  reloader: token<Reloader>('kernel/reloader'),
  remains: token<Remains>('kernel/remains'),
  routes: token<RouteTable>('kernel/routes'),
  runtime: token<Runtime>('kernel/runtime'),
  secrets: token<Secrets>('kernel/secrets'),
  storeState: token<StoreState>('kernel/store-state'),
  threads: token<Threads>('kernel/threads'),
  tokenInquiry: token<TokenInquiry>('kernel/token-inquiry'),
  tokens: token<TokenCounter>('kernel/tokens'),
} as const

/** Offered by who gives models other names. */
export interface ModelNames {
  names(): readonly string[]
  /** The model that a name stands for; undefined for names that are none of these. */
  modelOf(name: string): string | undefined
}

export const ModelAliases = token<ModelNames>('model-aliases')

/** Offered by who limits which models a key may reach. */
export interface ModelScope {
  /** Whether the key may ask for a model by this name, when that leads to this model of this provider. */
  mayReach(principal: Principal, asked: string, provider: string, model: string): boolean
}

export const ModelScopes = token<ModelScope>('model-scopes')
