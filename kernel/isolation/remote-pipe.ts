import type { Call } from '../call/call.ts'
import type { ChunkBatch } from './chunk-view.ts'
import type { Job, Passed } from './messages.ts'
import type { KnownCall } from './remote-calls.ts'
import type { RemoteModule } from './remote-module.ts'
import { WorkerLost } from './worker-host.ts'

/** A stream's way through one worker, and no other: what a lost worker held, the next one does not know. */
export class RemotePipe {
  readonly #module: RemoteModule
  readonly #call: Call
  readonly #number: number
  readonly #reveals: boolean
  readonly #known: KnownCall
  #born: number | undefined

  constructor(module: RemoteModule, call: Call, number: number, reveals: boolean) {
    this.#module = module
    this.#call = call
    this.#number = number
    this.#reveals = reveals
    this.#known = module.calls.enter(call)
  }

  async pass(batch: ChunkBatch, end: boolean): Promise<Passed> {
    if (this.#isLost) throw new WorkerLost('its worker was lost in the middle of a stream')
    await this.#module.started()
    const isFirst = this.#born === undefined
    this.#born = this.#module.born
    const passed = await this.#module.send(this.#call, (known) => ({
      do: 'stream',
      of: this.#call.id,
      call: isFirst ? this.#module.calls.view(this.#call, known) : undefined,
      pipe: this.#number,
      reveals: this.#reveals,
      batch,
      end,
    }))
    return passed as Passed
  }

  /** `isOpen`: the worker still waits for the rest, which nobody wants. Never rejects. */
  async close(isOpen: boolean): Promise<void> {
    if (isOpen && this.#born !== undefined && !this.#isLost) {
      const job: Job = { do: 'drop', of: this.#call.id, pipe: this.#number }
      await this.#module.send(this.#call, () => job).catch(() => {})
    }
    this.#module.calls.leave(this.#known)
  }

  get #isLost(): boolean {
    return this.#born !== undefined && this.#born !== this.#module.born
  }
}
