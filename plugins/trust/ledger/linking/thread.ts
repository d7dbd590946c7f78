import { SupervisedWorker } from '#kit'
import type { End } from '../end.ts'
import type { Linked } from './link.ts'
import type { LinkingMethods } from './methods.ts'

const startMs = 30_000
/** Bodies of calls are long, and live as long as their hash takes. */
const heapMb = 512
const youngMb = 8
/** Without entries to make, until its memory is given back. */
const idleMs = 10_000
/** Bytes that usual batches have at most. */
const usualSize = 1024 * 1024

/** Links entries in a thread of its own, which exists while there are many. */
export class LinkingThread {
  readonly #worker = new SupervisedWorker<LinkingMethods>({
    entry: ['./worker', import.meta.url],
    name: 'hashes of the ledger',
    execArgv: [],
    limits: { startMs, idleMs, heapMb, youngMb },
    methods: {},
  })
  /** Memory of both threads: a message with bytes of its own would have to be collected in the other one. */
  #usual: Uint8Array | undefined
  /** The batch that the thread has, behind those before. */
  #turn: Promise<unknown> = Promise.resolve()

  /** As `link` does it, one batch after the other. Rejects when the thread does not come through it. */
  link(drafts: Uint8Array, end: End): Promise<Linked> {
    const linked = this.#turn.then(() => this.#link(drafts, end))
    this.#turn = linked.catch(() => {
      // A thread that is being ended may still write there.
      this.#usual = undefined
    })
    return linked
  }

  close(): Promise<void> {
    return this.#worker.close(async () => {}, 0)
  }

  async #link(drafts: Uint8Array, end: End): Promise<Linked> {
    await this.#worker.start()
    return this.#worker.call('link', { drafts: this.#shared(drafts), end })
  }

  #shared(drafts: Uint8Array): Uint8Array {
    const isUsual = drafts.length <= usualSize
    const memory =
      (isUsual && this.#usual) || new Uint8Array(new SharedArrayBuffer(isUsual ? usualSize : drafts.length))
    if (isUsual) this.#usual = memory
    memory.set(drafts)
    return memory.subarray(0, drafts.length)
  }
}
