import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { Meter, type MeterState } from '../chain/meter.ts'
import { defineEvent, type Events, type Occurrence } from '../events.ts'
import type { HttpServer } from '../http/server.ts'
import type { Plugin } from '../plugin/plugin-record.ts'
import type { Registry } from '../plugin/registry.ts'
import type { NumberedNews } from '../plugin/transaction.ts'
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
  readonly startedAt: number
  readonly registry: () => Registry
}

/** The other threads of the process, for the kernel of the first one. */
export interface OtherThreads {
  readonly count: number
  /** Starts them all, to listen on the first one's port and to forward to it. Rejects when one cannot. */
  start(port: number, listenAside: HttpServer['listenAside']): Promise<void>
  /** Resolves when a change of plugins holds in all of them. */
  tell(news: NumberedNews): Promise<void>
  /** Has all drain and end. */
  close(): Promise<void>
  meters(id: string): Promise<readonly MeterState[]>
  resetMeters(id: string): Promise<void>
  queues(): Promise<readonly Record<string, QueueStatus>[]>
}

/** The measurements of all threads together, for routes that show them. */
export class Threads {
  readonly #queues: Queues
  #others: OtherThreads | undefined

  constructor(queues: Queues) {
    this.#queues = queues
  }

  /** From now on there are others. */
  join(others: OtherThreads): void {
    this.#others = others
  }

  get count(): number {
    return 1 + (this.#others?.count ?? 0)
  }

  /** The measurements of a plugin. */
  async meterOf({ id, meter }: Pick<Plugin, 'id' | 'meter'>): Promise<Meter> {
    if (!this.#others) return meter
    const all = new Meter()
    for (const state of [meter.state, ...(await this.#others.meters(id))]) all.include(state)
    return all
  }

  async resetMeter({ id, meter }: Pick<Plugin, 'id' | 'meter'>): Promise<void> {
    meter.reset()
    await this.#others?.resetMeters(id)
  }

  /** The queues by name. */
  async queues(): Promise<Record<string, QueueStatus>> {
    const sums = this.#queues.read()
    for (const other of (await this.#others?.queues()) ?? []) {
      for (const [name, { depth, bytes, dropped }] of Object.entries(other)) {
        const sum = sums[name] ?? { depth: 0, bytes: 0, dropped: 0 }
        sums[name] = { depth: sum.depth + depth, bytes: sum.bytes + bytes, dropped: sum.dropped + dropped }
      }
    }
    return sums
  }
}
