import type { Call } from '../call/call.ts'
import { type Reply, WholeReply } from '../call/reply.ts'
import { BatchReveal } from '../chain/batches.ts'
import { type Entry, failed, ran } from '../chain/entry.ts'
import { checkedBody } from '../chain/returned.ts'
import type { RemoteModule } from './remote-module.ts'
import { RemoteStream } from './remote-stream.ts'

/** A detection that is in a worker: takes whole answers and whole batches. */
export class RemoteReveal extends BatchReveal {
  readonly #module: RemoteModule

  constructor(module: RemoteModule) {
    super()
    this.#module = module
  }

  /** The answer with what the module reveals. */
  async through(reply: Reply, entry: Entry, call: Call): Promise<Reply> {
    if (reply.kind === 'stream')
      return reply.through(new RemoteStream(this.#module, call, true).through(reply.chunks, entry))
    const started = performance.now()
    try {
      const body = await entry.meter.deadlines.within(this.#module.reveal(reply.body, call))
      return body === undefined ? reply : WholeReply.of(checkedBody(body, reply.body))
    } catch (error) {
      failed(entry, 'reveal', error, call)
      return reply
    } finally {
      ran(entry, 'reveal', performance.now() - started, call)
    }
  }
}
