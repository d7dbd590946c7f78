import type { Call } from '../kernel/call/call.ts'
import type { Completion } from '../kernel/call/canonical.ts'
import { type Reply, StreamReply, WholeReply } from '../kernel/call/reply.ts'
import { BatchFilter, BatchReveal } from '../kernel/chain/batches.ts'
import { type Entry, handleFailure, recordRun } from '../kernel/chain/entry.ts'
import { checkedBody } from '../kernel/chain/returned.ts'
import type { Chunk } from '../kernel/stream/chunk.ts'
import type { ChunkItems } from './chunk-transit.ts'
import type { RemoteModule } from './remote-module.ts'
import { type Batches, RemoteRun } from './remote-run.ts'

/** A whole answer as a module in a worker leaves it; undefined when it leaves it alone. */
export async function rewriteWhole(
  module: RemoteModule,
  body: Completion,
  call: Call,
): Promise<Completion | undefined> {
  const before = WholeReply.of(body)
  const run = new RemoteRun(module, call)
  const after = await run.begin('rewrite', { reply: run.view(before), reveals: false }, () => {})
  return after === before || after.kind === 'stream' ? undefined : after.body
}

/** A filter that is in a worker: takes the whole batches of one answer, one at a time. */
export class RemoteFilter extends BatchFilter {
  readonly #module: RemoteModule
  readonly #call: Call

  constructor(module: RemoteModule, call: Call) {
    super()
    this.#module = module
    this.#call = call
  }

  /** The chunks as the module lets them go on. */
  async *through(chunks: Batches, entry: Entry): AsyncGenerator<readonly Chunk[]> {
    const before = new StreamReply('', chunks)
    const after = await new Rewriting(this.#module, this.#call, entry, 'stream').rewritten(before)
    if (after.kind === 'stream') yield* after.chunks
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
  through(reply: Reply, entry: Entry, call: Call): Promise<Reply> {
    return new Rewriting(this.#module, call, entry, 'reveal').rewritten(reply)
  }
}

/** A run that rewrites an answer. Of a stream, it is given each batch with the question for what it makes of it. */
class Rewriting extends RemoteRun {
  readonly #entry: Entry
  readonly #hook: 'stream' | 'reveal'
  #before = 0
  #ms = 0

  constructor(module: RemoteModule, call: Call, entry: Entry, hook: 'stream' | 'reveal') {
    super(module, call)
    this.#entry = entry
    this.#hook = hook
  }

  /** The answer as the module makes it: itself when it leaves it alone, or fails before it has begun. */
  async rewritten(before: Reply): Promise<Reply> {
    const failed = (error: unknown): void => handleFailure(this.#entry, this.#hook, error, this.call)
    const reply = this.view(before)
    this.#before = reply.reply
    let after = before
    try {
      const given = { reply, reveals: this.#hook === 'reveal' }
      const made = await this.#timed(this.begin('rewrite', given, failed))
      if (made.kind === 'whole' && before.kind === 'whole') checkedBody(made.body, before.body)
      if (made.kind === before.kind) after = made
    } catch (error) {
      failed(error)
    } finally {
      if (before.kind === 'whole') this.#record()
    }
    if (before.kind === 'whole' || after.kind === 'whole') return after
    return before.through(this.#recorded(after.chunks))
  }

  protected override async ask(stream: number, isLeft: boolean): Promise<ChunkItems | undefined> {
    if (isLeft) return super.ask(stream, isLeft)
    for (;;) {
      const batch = this.isOver ? undefined : await this.read(this.#before)
      const items = await this.#timed(super.ask(stream, false, { batch }))
      if (items?.length !== 0) return items
    }
  }

  async *#recorded(chunks: Batches): AsyncGenerator<readonly Chunk[]> {
    try {
      yield* chunks
    } finally {
      this.#record()
    }
  }

  #record(): void {
    recordRun(this.#entry, this.#hook, this.#ms, this.call)
  }

  async #timed<T>(answer: Promise<T>): Promise<T> {
    const started = performance.now()
    try {
      return await this.#entry.meter.deadlines.within(answer)
    } finally {
      this.#ms += performance.now() - started
    }
  }
}
