import type { Call } from '../call/call.ts'
import { BatchFilter } from '../chain/batches.ts'
import { type Entry, failed, ran } from '../chain/entry.ts'
import type { Chunk } from '../stream/chunk.ts'
import type { Passed } from './messages.ts'
import type { RemoteModule } from './remote-module.ts'
import { errorOf } from './thrown.ts'
import { lostMidway, Transit } from './transit.ts'

/** A filter that is in a worker: takes whole batches, one at a time. */
export class RemoteStream extends BatchFilter {
  readonly #module: RemoteModule
  readonly #call: Call
  readonly #reveals: boolean
  readonly #transit = new Transit()

  /** `reveals`: it shows the client what everybody else does not get to see. */
  constructor(module: RemoteModule, call: Call, reveals = false) {
    super()
    this.#module = module
    this.#call = call
    this.#reveals = reveals
  }

  /**
   * The chunks as the module lets them go on. When its worker is lost the stream goes on without it, as long as all
   * that was taken out can still be put back; else it ends with an error.
   */
  async *through(chunks: AsyncIterable<readonly Chunk[]>, entry: Entry): AsyncGenerator<readonly Chunk[]> {
    const hook = this.#reveals ? 'reveal' : 'stream'
    const pipe = this.#module.openPipe(this.#call, this.#reveals)
    let ms = 0
    let isOpen = true
    const pass = async (batch: readonly Chunk[], end: boolean): Promise<Passed | undefined> => {
      const started = performance.now()
      try {
        return await entry.meter.deadlines.within(pipe.pass(this.#transit.enter(batch), end))
      } catch (error) {
        failed(entry, hook, error, this.#call)
        return undefined
      } finally {
        ms += performance.now() - started
      }
    }
    const fail = ({ thrown }: Passed): void => {
      if (thrown) failed(entry, hook, errorOf(thrown), this.#call)
    }
    try {
      for await (const batch of chunks) {
        if (!isOpen) {
          yield batch
          continue
        }
        const passed = await pass(batch, false)
        isOpen = passed !== undefined && passed.over === undefined
        const out =
          passed && passed.over !== 'untouched' ? this.#transit.leave(passed.chunks) : this.#putBack(entry)
        if (out.length > 0) yield out
        if (passed) fail(passed)
        if (passed?.over === 'ended') return
      }
      if (!isOpen) return
      const passed = await pass([], true)
      isOpen = false
      const out = passed ? this.#transit.leave(passed.chunks) : this.#putBack(entry)
      if (out.length > 0) yield out
      if (passed) fail(passed)
    } finally {
      await pipe.close(isOpen)
      ran(entry, hook, ms, this.#call)
    }
  }

  #putBack({ id }: Entry): Chunk[] {
    const back = this.#transit.putBack()
    if (back) return back
    throw lostMidway(id)
  }
}
