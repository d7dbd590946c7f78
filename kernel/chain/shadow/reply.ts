import type { Call } from '../../call/call.ts'
import { type Reply, StreamReply } from '../../call/reply.ts'
import type { Chunk } from '../../stream/chunk.ts'
import { collect } from '../../stream/collect.ts'
import type { Entry } from '../entry.ts'
import { rewriteReply } from '../rewrite.ts'
import type { ShadowRun } from './run.ts'

/** Lets a module rewrite a copy of an answer, and notes where it would have changed it. */
export async function rewriteAside(run: ShadowRun, entry: Entry, reply: Reply, call: Call): Promise<void> {
  const given = kept(reply)
  await compareReplies(run, given, await rewriteReply(given.reply, [entry], call))
}

interface Kept {
  readonly reply: Reply
  /** The part of a stream that was read so far. */
  readonly chunks: Chunk[]
  /** Reads what of a stream the module has left. */
  readRest(): Promise<void>
}

/** An answer of which it is remembered what was read. */
export function kept(reply: Reply): Kept {
  const chunks: Chunk[] = []
  if (reply.kind === 'whole') return { reply, chunks, async readRest() {} }
  async function* remembered(source: AsyncIterable<readonly Chunk[]>): AsyncGenerator<readonly Chunk[]> {
    for await (const batch of source) {
      chunks.push(...batch)
      yield batch
    }
  }
  return {
    reply: reply.through(remembered(reply.chunks)),
    chunks,
    async readRest() {
      for await (const batch of reply.chunks) chunks.push(...batch)
    },
  }
}

/** Notes where an answer differs from the one that was given; streams are read to their end for it. */
export async function compareReplies(run: ShadowRun, given: Kept, made: Reply): Promise<void> {
  if (made === given.reply && made.kind === 'whole') return
  const chunks: Chunk[] = []
  if (made.kind === 'stream') for await (const batch of made.chunks) chunks.push(...batch)
  await given.readRest()
  if (made.kind === 'whole') return run.compare('reply', await bodyOf(given), made.body)
  const isSame =
    chunks.length === given.chunks.length && chunks.every((chunk, i) => chunk === given.chunks[i])
  if (!isSame) run.compare('reply', await bodyOf(given), await collect(streamOf(chunks)))
}

const bodyOf = ({ reply, chunks }: Kept) => (reply.kind === 'whole' ? reply.body : collect(streamOf(chunks)))

function streamOf(chunks: readonly Chunk[]): StreamReply {
  async function* once(): AsyncGenerator<readonly Chunk[]> {
    yield chunks
  }
  return new StreamReply('', once())
}
