import type { Call } from '../call/call.ts'
import type { WholeReply } from '../call/reply.ts'
import { isGatewayError, UpstreamError } from '../errors.ts'
import type { Protocol, StreamDecoder, Target } from '../upstream/provider.ts'
import type { UpstreamAnswer } from '../upstream/upstream-answer.ts'
import type { Chunk } from './chunk.ts'

/** A plain answer, read whole. */
export async function decodedWhole(
  answer: UpstreamAnswer,
  protocol: Protocol,
  call: Call,
  target: Target,
): Promise<WholeReply> {
  const body = await answer.whole()
  try {
    return protocol.decode(answer, body, call, target)
  } catch (error) {
    throw understood(error, target)
  }
}

/** The chunks of an answer, batch by batch as its bytes come. Leaving it early closes the connection. */
export async function* decodedChunks(
  answer: UpstreamAnswer,
  protocol: Protocol,
  call: Call,
  target: Target,
): AsyncGenerator<readonly Chunk[]> {
  const decoder = protocol.decoder(answer, call, target)
  try {
    for (let batch = await answer.read(); batch; batch = await answer.read()) {
      const chunks = pushed(decoder, batch, target)
      if (chunks.length > 0) yield chunks
    }
    const rest = ended(decoder, target)
    if (rest.length > 0) yield rest
  } finally {
    answer.cancel()
  }
}

function pushed(decoder: StreamDecoder, batch: readonly Buffer[], target: Target): readonly Chunk[] {
  try {
    return batch.length === 1 ? decoder.push(batch[0]!) : batch.flatMap((bytes) => decoder.push(bytes))
  } catch (error) {
    throw understood(error, target)
  }
}

function ended(decoder: StreamDecoder, target: Target): readonly Chunk[] {
  try {
    return decoder.end()
  } catch (error) {
    throw understood(error, target)
  }
}

/** A protocol reads what its provider documents: whatever else makes it stumble is the provider's failure. */
function understood(error: unknown, { provider, model }: Target): unknown {
  if (isGatewayError(error)) return error
  const message = `The provider ${provider.name} answered with something that makes no sense.`
  const about = { provider: provider.name, model, fault: 'protocol', retryable: true } as const
  return new UpstreamError('provider_error', message, { ...about, cause: error })
}
