import { Meter, type MeterState } from '../../kernel/chain/meter.ts'
import type { Plugin } from '../../kernel/plugin/plugin-record.ts'
import type { QueueStatus, Queues } from '../../kernel/queues.ts'
import type { Threads } from '../../kernel/threads/threads.ts'

/** The measurements of the further threads, without those of one that does not answer. */
interface Others {
  readonly count: number
  meters(id: string): Promise<readonly MeterState[]>
  resetMeters(id: string): Promise<void>
  queues(): Promise<readonly Record<string, QueueStatus>[]>
}

/** Adds what the further threads have measured to what the first one has. */
export class AllThreads implements Threads {
  readonly #queues: Queues
  readonly #others: Others

  constructor(queues: Queues, others: Others) {
    this.#queues = queues
    this.#others = others
  }

  get count(): number {
    return 1 + this.#others.count
  }

  async meterOf({ id, meter }: Pick<Plugin, 'id' | 'meter'>): Promise<Meter> {
    const all = new Meter()
    for (const state of [meter.state, ...(await this.#others.meters(id))]) all.include(state)
    return all
  }

  async resetMeter({ id, meter }: Pick<Plugin, 'id' | 'meter'>): Promise<void> {
    meter.reset()
    await this.#others.resetMeters(id)
  }

  async queues(): Promise<Record<string, QueueStatus>> {
    const sums = this.#queues.read()
    for (const other of await this.#others.queues()) {
      for (const [name, { depth, bytes, dropped }] of Object.entries(other)) {
        const sum = sums[name] ?? { depth: 0, bytes: 0, dropped: 0 }
        sums[name] = { depth: sum.depth + depth, bytes: sum.bytes + bytes, dropped: sum.dropped + dropped }
      }
    }
    return sums
  }
}
