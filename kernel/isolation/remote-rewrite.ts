import type { Call } from '../call/call.ts'
import type { Completion } from '../call/canonical.ts'
import { type Reply, StreamReply, WholeReply } from '../call/reply.ts'
import { BatchFilter, BatchReveal } from '../chain/batches.ts'
import type { Deadlines } from '../chain/deadlines.ts'
import { type Entry, handleFailure, recordRun } from '../chain/entry.ts'
import { checkedBody } from '../chain/returned.ts'
import type { Chunk } from '../stream/chunk.ts'
import type { ChunkItems } from './chunk-transit.ts'
import type { RemoteModule } from './remote-module.ts'
import { RemoteRun } from './remote-run.ts'

/** A whole answer as a module in a worker leaves it; undefined when it leaves it alone. */
export async function rewriteWhole(
  module: RemoteModule,
  body: Completion,
  call: Call,
  reveals = false,
): Promise<Completion | undefined> {
  const before = WholeReply.of(body)
  const run = new RemoteRun(module, call)
  const after = await run.begin('rewrite', { reply: run.view(before), reveals }, () => {})
  return after === before || after.kind === 'stream' ? undefined : after.body
}

/** A filter that is in a worker: takes the whole batches of one answer, one at a time. */
export class RemoteFilter extends BatchFilter {
  readonly #module: RemoteModule
  readonly #call: Call
  readonly #reveals: boolean

  /** `reveals`: it shows the client text that nothing else gets to see. */
  constructor(module: RemoteModule, call: Call, reveals = false) {
    super()
    this.#module = module
    this.#call = call
    this.#reveals = reveals
  }

  /** The chunks as the module lets them go on. */
  async *through(chunks: AsyncIterable<readonly Chunk[]>, entry: Entry): AsyncGenerator<readonly Chunk[]> {
    const hook = this.#reveals ? 'reveal' : 'stream'
    const run = new FilterRun(this.#module, this.#call, entry.meter.deadlines)
    const failed = (error: unknown): void => handleFailure(entry, hook, error, this.#call)
    try {
      yield* await run.filtered(chunks, this.#reveals, failed)
    } finally {
      await run.close()
      recordRun(entry, hook, run.ms, this.#call)
    }
  }
}

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
      return reply.through(new RemoteFilter(this.#module, call, true).through(reply.chunks, entry))
    const { body } = reply
    const started = performance.now()
    try {
      const shown = await entry.meter.deadlines.within(rewriteWhole(this.#module, body, call, true))
      return shown === undefined ? reply : WholeReply.of(checkedBody(shown, body))
    } catch (error) {
      handleFailure(entry, 'reveal', error, call)
      return reply
    } finally {
      recordRun(entry, 'reveal', performance.now() - started, call)
    }
  }
}

/** The run of a filter, which is given each batch with the question for what it makes of it. */
class FilterRun extends RemoteRun {
  /** Milliseconds that the filter took. */
  ms = 0
  readonly #deadlines: Deadlines
  #source = 0

  constructor(module: RemoteModule, call: Call, deadlines: Deadlines) {
    super(module, call)
    this.#deadlines = deadlines
  }

  /** What the module makes of these chunks: themselves when it leaves them alone, or fails before it has begun. */
  async filtered(
    chunks: StreamReply['chunks'],
    reveals: boolean,
    failed: (error: unknown) => void,
  ): Promise<StreamReply['chunks']> {
    const reply = this.view(new StreamReply('', chunks))
    this.#source = reply.reply
    try {
      const made = await this.#timed(this.begin('rewrite', { reply, reveals }, failed))
      return made.kind === 'stream' ? made.chunks : chunks
    } catch (error) {
      failed(error)
      return chunks
    }
  }

  /** The rest of the source is not needed. */
  async close(): Promise<void> {
    if (!this.isOver) for (const reader of this.readers.values()) await reader.return?.()
  }

  protected override async ask(stream: number, isLeft: boolean): Promise<ChunkItems | undefined> {
    if (isLeft) return super.ask(stream, isLeft)
    for (;;) {
      const batch = this.isOver ? undefined : await this.read(this.#source)
      const items = await this.#timed(super.ask(stream, false, { batch }))
      if (items?.length !== 0) return items
    }
  }

  async #timed<T>(answer: Promise<T>): Promise<T> {
    const started = performance.now()
    try {
      return await this.#deadlines.within(answer)
    } finally {
      this.ms += performance.now() - started
    }
  }
}
