import { z } from 'zod'
import { Meter, type MeterState } from '../chain/meter.ts'
import { defineEvent } from '../events.ts'
import type { Plugin } from '../plugin/plugin-record.ts'
import type { QueueStatus, Queues } from '../queues.ts'

export const ThreadEnded = defineEvent('thread.ended', z.object({ thread: z.int() }), {
  description:
    'One of several threads ended, and its running calls are lost. Unless the gateway stops, it is replaced.',
})

/** Access to the other threads, for sums over all of them. */
export interface OtherThreads {
  readonly count: number
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
