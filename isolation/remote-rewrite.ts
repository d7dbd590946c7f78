import type { Call } from '../kernel/call/call.ts'
import { StreamReply, WholeReply } from '../kernel/call/reply.ts'
import { type Batches, BatchFilter, type Rewriter } from '../kernel/chain/batches.ts'
import { type Entry, handleFailure, recordRun } from '../kernel/chain/entry.ts'
import type { Chunk } from '../kit/canonical/chunk.ts'
import type { Completion } from '../kit/canonical/forms.ts'
import type { ChunkItems } from './chunk-transit.ts'
import type { RewriteHook } from './protocol.ts'
import type { RemoteModule } from './remote-module.ts'
import { RemoteRun } from './remote-run.ts'

/** Has a module in a worker rewrite answers. */
export const remoteRewriter = (module: RemoteModule, hook: RewriteHook): Rewriter => ({
  reply: (body, call) => rewriteWhole(module, body, call, hook),
  stream: (call) =>
    new BatchFilter((chunks, entry) => new Rewriting(module, call, entry, hook).rewritten(chunks)),
})

/** A whole answer as the module leaves it; undefined when it leaves it alone. */
async function rewriteWhole(
  module: RemoteModule,
  body: Completion,
  call: Call,
  hook: RewriteHook,
): Promise<Completion | undefined> {
  const before = WholeReply.of(body)
  const run = new RemoteRun(module, call)
  const after = await run.begin('rewrite', { reply: run.view(before), hook }, () => {})
  return after === before || after.kind === 'stream' ? undefined : after.body
}

/** A run that rewrites a stream: it is given each whole batch with the question for what it makes of it, one at a time. */
class Rewriting extends RemoteRun {
  readonly #entry: Entry
  readonly #hook: RewriteHook
  #before = 0
  #ms = 0

  constructor(module: RemoteModule, call: Call, entry: Entry, hook: RewriteHook) {
    super(module, call)
    this.#entry = entry
    this.#hook = hook
  }

  /** The chunks as the module makes them: as they come when it leaves them alone, or fails before it has begun. */
  async *rewritten(chunks: Batches): AsyncGenerator<readonly Chunk[]> {
    const failed = (error: unknown): void => handleFailure(this.#entry, this.#hook, error, this.call)
    const before = new StreamReply('', chunks)
    const reply = this.view(before)
    this.#before = reply.reply
    const given = { reply, hook: this.#hook }
    const made = await this.#timed(this.begin('rewrite', given, failed)).catch(failed)
    try {
      yield* made?.kind === 'stream' ? made.chunks : chunks
    } finally {
      recordRun(this.#entry, this.#hook, this.#ms, this.call)
    }
  }

  protected override async ask(stream: number, isLeft: boolean): Promise<ChunkItems | undefined> {
    if (isLeft) return super.ask(stream, isLeft)
    for (;;) {
      const batch = this.isOver ? undefined : await this.read(this.#before)
      const items = await this.#timed(super.ask(stream, false, { batch }))
      if (items?.length !== 0) return items
    }
  }

  async #timed<T>(answer: Promise<T>): Promise<T> {
    const started = performance.now()
    try {
      return await this.#entry.meter.deadlines.within(answer)
    } finally {
      this.#ms += performance.now() - Math.max(started, this.#entry.meter.pardonedAt)
    }
  }
}
