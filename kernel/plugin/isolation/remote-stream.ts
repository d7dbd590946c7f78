import type { Call } from '../../call/call.ts'
import { type Entry, failed } from '../../chain/entry.ts'
import { internalError } from '../../errors.ts'
import { Chunk } from '../../stream/chunk.ts'
import type { Filter } from '../../stream/filter.ts'
import type { Passed } from './messages.ts'
import type { RemoteModule } from './remote-module.ts'
import { errorOf } from './thrown.ts'

/** A filter that is in a worker: takes whole batches, one at a time. */
export class RemoteStream implements Filter {
  readonly #module: RemoteModule
  readonly #call: Call
  /** Chunks that are in the worker, by number. */
  readonly #held = new Map<number, Chunk>()
  #count = 0
  #last = -1
  #altered = false

  constructor(module: RemoteModule, call: Call) {
    this.#module = module
    this.#call = call
  }

  push(): never {
    throw new Error('a stream in a worker takes whole batches')
  }

  /**
   * The chunks as the module lets them go on. When its worker is lost the stream goes on without it, as long as all
   * that was taken out can still be put back; else it ends with an error.
   */
  async *through(chunks: AsyncIterable<readonly Chunk[]>, entry: Entry): AsyncGenerator<readonly Chunk[]> {
    const pipe = this.#module.openPipe()
    let ms = 0
    let open = true
    const pass = async (batch: readonly Chunk[], end: boolean): Promise<Passed | undefined> => {
      const started = performance.now()
      const data = batch.map((chunk) => chunk.data)
      for (const chunk of batch) this.#hold(chunk)
      try {
        return await entry.meter.deadlines.within(this.#module.pass(this.#call, pipe, data, end))
      } catch (error) {
        failed(entry, 'stream', error, this.#call)
        return undefined
      } finally {
        ms += performance.now() - started
      }
    }
    try {
      for await (const batch of chunks) {
        if (!open) {
          yield batch
          continue
        }
        const passed = await pass(batch, false)
        open = passed !== undefined && passed.over === undefined
        const out = passed?.over === 'untouched' || !passed ? this.#putBack(entry) : this.#taken(passed)
        if (out.length > 0) yield out
        if (passed?.thrown) failed(entry, 'stream', errorOf(passed.thrown), this.#call)
        if (passed?.over === 'ended') return
      }
      if (!open) return
      const passed = await pass([], true)
      open = false
      const out = passed ? this.#taken(passed) : this.#putBack(entry)
      if (out.length > 0) yield out
      if (passed?.thrown) failed(entry, 'stream', errorOf(passed.thrown), this.#call)
    } finally {
      if (open) this.#module.dropPipe(pipe)
      entry.meter.run('stream', ms)
      this.#call.trail.timings.push({ module: entry.id, hook: 'stream', ms })
    }
  }

  #hold(chunk: Chunk): void {
    this.#held.set(this.#count, chunk)
    this.#count += 1
  }

  #taken({ chunks }: Passed): Chunk[] {
    const out = chunks.map((item) => {
      const chunk = typeof item === 'number' ? this.#held.get(item) : undefined
      if (typeof item !== 'number' || !chunk) {
        this.#altered = true
        return Chunk.of(item as Exclude<typeof item, number>)
      }
      this.#held.delete(item)
      this.#last = Math.max(this.#last, item)
      return chunk
    })
    for (const number of this.#held.keys()) {
      if (number < this.#last) this.#altered = true
      break
    }
    return out
  }

  /** What is in the worker and never came out. */
  #putBack({ id }: Entry): Chunk[] {
    if (this.#altered) {
      throw internalError(`The module ${id} was lost in the middle of an answer that it was changing.`, {
        module: id,
      })
    }
    const back = [...this.#held.values()]
    this.#held.clear()
    return back
  }
}
