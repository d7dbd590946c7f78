import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import type { Meter } from '../chain/meter.ts'
import { defineEvent, type Events, type Occurrence } from '../events.ts'
import type { HttpServer } from '../http/server.ts'
import type { NumberedNews } from '../plugin/change.ts'
import type { Plugin } from '../plugin/plugin-record.ts'
import type { Registry } from '../plugin/registry.ts'
import type { QueueStatus, Queues } from '../queues.ts'

export const ThreadEnded = defineEvent('thread.ended', z.object({ thread: z.int() }), {
  description:
    'One of several threads ended, and its running calls are lost. Unless the gateway stops, it is replaced.',
})

/** The parts of a kernel that is not the only one in its process, and not the first. */
export interface FurtherThread {
  /** From 2. */
  readonly number: number
  /** The port of the first thread, which this one shares. */
  readonly port: number
  readonly startedAt: number
  /** Number of the first thread's generation. */
  readonly generation: number
  /** Has the first thread answer what is no model call. Resolves when the request is over. */
  readonly forward: (req: IncomingMessage, res: ServerResponse) => Promise<void>
  /** Gets every event that happens here as well. */
  readonly onward: (occurrence: Occurrence) => void
}

/** The parts of the first kernel of several that the further threads are kept alike by. */
export interface FirstKernel {
  readonly events: Events
  readonly queues: Queues
  readonly startedAt: number
  readonly registry: () => Registry
}

/** The measurements of all threads together, for routes that show them. */
export interface Threads {
  readonly count: number
  /** The measurements of a plugin. */
  meterOf(plugin: Pick<Plugin, 'id' | 'meter'>): Promise<Meter>
  resetMeter(plugin: Pick<Plugin, 'id' | 'meter'>): Promise<void>
  /** The queues by name. */
  queues(): Promise<Record<string, QueueStatus>>
}

/** The other threads of the process, for the kernel of the first one. */
export interface OtherThreads {
  /** They and this one. */
  readonly all: Threads
  /** Starts them all, to listen on the port of the first one's server and to forward to it. Rejects when one cannot. */
  start(port: number, server: Pick<HttpServer, 'route'>): Promise<void>
  /** Resolves when a change of plugins holds in all of them. */
  tell(news: NumberedNews): Promise<void>
  /** Has all drain and end. */
  close(): Promise<void>
}

/** The measurements of a kernel that knows no other thread. */
export const threadAlone = (queues: Queues): Threads => ({
  count: 1,
  meterOf: async ({ meter }) => meter,
  resetMeter: async ({ meter }) => meter.reset(),
  queues: async () => queues.read(),
})
