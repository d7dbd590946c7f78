import type { MessagePort } from 'node:worker_threads'
import type { MeterState } from '../chain/meter.ts'
import type { Config } from '../config.ts'
import type { Relayed } from '../plugin/relay.ts'
import type { PluginNews } from '../plugin/transaction.ts'
import type { QueueStatus } from '../queues.ts'

/** Where the first thread answers what other threads hand on to it. */
export interface Inside {
  readonly port: number
  readonly secret: string
}

/** What a further thread is started with. */
export interface ThreadData {
  readonly config: Config
  readonly env: Readonly<Record<string, string | undefined>>
  /** From 2. */
  readonly number: number
  readonly port: number
  readonly inside: Inside
  readonly startedAt: number
  /** Number of the first thread's generation. */
  readonly generation: number
  /** To the store, and to the first thread. */
  readonly store: MessagePort
  readonly control: MessagePort
}

/** What the first thread asks of another. */
export type ToThread =
  | { readonly plugin: PluginNews }
  | { readonly run: string }
  | { readonly meter: string }
  | { readonly reset: string }
  | { readonly queues: true }
  | { readonly close: true }

/** What a thread tells the first one. */
export type ToFirst =
  | { readonly ready: true }
  | { readonly failed: string }
  | { readonly relayed: readonly Relayed[] }
  | { readonly asked: string; readonly data: unknown }

export type { MeterState, QueueStatus }
