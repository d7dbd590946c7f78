import type { MessagePort } from 'node:worker_threads'
import type { Config } from '../../config/config.ts'
import type { MeterState } from '../../kernel/chain/meter.ts'
import type { NumberedNews } from '../../kernel/plugin/change.ts'
import type { QueueStatus } from '../../kernel/queues.ts'
import type { MainEndpoint } from './forward.ts'
import type { Relayed } from './relay.ts'

/** The data that a further thread is started with. */
export interface ThreadData {
  readonly config: Config
  readonly env: Readonly<Record<string, string | undefined>>
  /** From 2. */
  readonly number: number
  readonly port: number
  readonly main: MainEndpoint
  readonly startedAt: number
  /** Number of the first thread's generation. */
  readonly generation: number
  /** Leads to the store. */
  readonly store: MessagePort
}

/** The methods of another thread that the first one calls. All but `boot` reject until the thread is ready. */
export type ThreadMethods = {
  /** Resolves when it answers requests. */
  boot(): void
  follow(news: NumberedNews): void
  /** Runs what is bound to a key. */
  run(key: string): void
  /** Undefined for a plugin that is not there. */
  meter(id: string): MeterState | undefined
  resetMeter(id: string): void
  queues(): Record<string, QueueStatus>
  /** Drains; resolves when all is given back. */
  close(): void
}

/** The methods of the first thread that another one calls. */
export type FirstMethods = {
  relay(relayed: readonly Relayed[]): void
  ask(asked: { readonly key: string; readonly data: unknown }): unknown
}
