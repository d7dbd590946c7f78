import type { Call } from '../kernel/call/call.ts'
import type { Reply } from '../kernel/call/reply.ts'
import type { Entry } from '../kernel/chain/entry.ts'
import { rewriteReply } from '../kernel/chain/rewrite.ts'
import { assembled } from '../kernel/stream/collect.ts'
import { KeptReply } from '../kernel/stream/kept-reply.ts'
import type { Chunk } from '../kit/canonical/chunk.ts'
import type { Completion } from '../kit/canonical/forms.ts'
import type { ShadowRun } from './run.ts'

/** Lets a module rewrite a copy of an answer, and notes where it would have changed it. */
export async function rewriteAside(run: ShadowRun, entry: Entry, reply: Reply, call: Call): Promise<void> {
  const given = new KeptReply(reply)
  await compareReplies(run, given, await rewriteReply(given.reply, [entry], call))
}

/** Notes where an answer differs from the one that was given; streams are read to their end for it. */
export async function compareReplies(run: ShadowRun, given: KeptReply, made: Reply): Promise<void> {
  if (made === given.reply && made.kind === 'whole') return
  const after = await chunksOf(made)
  // Only now: it begins with what has been read of it.
  const original = given.again()
  const before = await chunksOf(original)
  const isSame = after.length === before.length && after.every((chunk, i) => chunk === before[i])
  if (!isSame || made.kind === 'whole') run.compare('reply', bodyOf(original, before), bodyOf(made, after))
}

async function chunksOf(reply: Reply): Promise<readonly Chunk[]> {
  const chunks: Chunk[] = []
  if (reply.kind === 'stream') for await (const batch of reply.chunks) chunks.push(...batch)
  return chunks
}

const bodyOf = (reply: Reply, chunks: readonly Chunk[]): Completion =>
  reply.kind === 'whole' ? reply.body : assembled(chunks)
