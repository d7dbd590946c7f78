import { SupervisedWorker } from '#kit'
import type { End } from '../end.ts'
import { joinedRecords, type Recorded } from '../recorded.ts'
import type { Linked } from './link.ts'
import type { LinkingMethods } from './methods.ts'

const startMs = 30_000
/** Bodies of calls are long, and live as long as their hash takes. */
const heapMb = 512
const youngMb = 8
/** Without entries to make, until its memory is given back. */
const idleMs = 10_000

/** Links entries in a thread of its own, which exists while there are many. */
export class LinkingThread {
  readonly #worker = new SupervisedWorker<LinkingMethods>({
    entry: ['./worker', import.meta.url],
    name: 'hashes of the ledger',
    execArgv: [],
    limits: { startMs, idleMs, heapMb, youngMb },
    methods: {},
  })

  /** As `link` does it. Rejects when the thread does not come through it. */
  async link(recorded: readonly Recorded[], end: End): Promise<Linked> {
    await this.#worker.start()
    return this.#worker.call('link', { recorded: joinedRecords(recorded), end })
  }

  close(): Promise<void> {
    return this.#worker.close(async () => {}, 0)
  }
}
