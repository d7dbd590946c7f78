import { Assembler } from '../../kit/canonical/assemble.ts'
import type { Chunk } from '../../kit/canonical/chunk.ts'
import { streamed } from '../../kit/canonical/chunks.ts'
import type { Completion } from '../../kit/canonical/forms.ts'
import type { Call } from '../call/call.ts'
import { type Reply, StreamReply, WholeReply } from '../call/reply.ts'

/** The body of an answer; a stream is read to its end. */
export async function collect(reply: Reply): Promise<Completion> {
  if (reply.kind === 'whole') return reply.body
  const assembler = new Assembler()
  for await (const batch of reply.chunks) for (const chunk of batch) assembler.add(chunk.data)
  return assembler.completion()
}

/** The body that the chunks of a stream add up to. */
export function assembled(chunks: Iterable<Chunk>): Completion {
  const assembler = new Assembler()
  for (const chunk of chunks) assembler.add(chunk.data)
  return assembler.completion()
}

/** An answer in the form the call asked for: streamed as a provider would have, or whole. */
export function replyWith(call: Call, body: Completion): Reply {
  return call.stream ? new StreamReply('', streamed(body)) : WholeReply.of(body)
}
