import type { Call } from '../call/call.ts'
import type { WholeReply } from '../call/reply.ts'
import { isGatewayError, UpstreamError } from '../errors.ts'
import { protocolError } from '../kit/provider-facts.ts'
import type { Log } from '../log.ts'
import type { Protocol, Target } from '../upstream/provider.ts'
import type { ToolNames } from '../upstream/tool-names.ts'
import type { UpstreamAnswer } from '../upstream/upstream-answer.ts'
import type { Chunk } from './chunk.ts'
import { EventTooLarge } from './sse.ts'

/** What it takes to read an answer. */
export interface Reading {
  readonly protocol: Protocol
  readonly call: Call
  readonly target: Target
  readonly log: Log
  /** The way back for names of tools that the provider knows by others. */
  readonly names: ToolNames | undefined
}

/** A plain answer, read whole. */
export async function decodedWhole(answer: UpstreamAnswer, reading: Reading): Promise<WholeReply> {
  const { protocol, call, target, names } = reading
  const body = await answer.whole()
  try {
    const reply = protocol.decode(answer, body, call, target)
    return names ? names.reply(reply) : reply
  } catch (error) {
    throw coded(error, reading)
  }
}

/**
 * The chunks of an answer, batch by batch as its bytes come; those before an error are given before it is thrown.
 * Leaving it early closes the connection.
 */
export async function* decodedChunks(
  answer: UpstreamAnswer,
  reading: Reading,
): AsyncGenerator<readonly Chunk[]> {
  const { protocol, call, target } = reading
  const decoder = protocol.decoder(answer, call, target)
  try {
    for (let batch = await answer.read(); batch; batch = await answer.read()) {
      const chunks: Chunk[] = []
      let failure: unknown
      for (const bytes of batch) failure ??= failureOf(() => decoder.push(bytes), chunks, reading)
      if (chunks.length > 0) yield chunks
      if (failure !== undefined) throw failure
    }
    const rest: Chunk[] = []
    const failure = failureOf(() => decoder.end(), rest, reading)
    if (rest.length > 0) yield rest
    if (failure !== undefined) throw failure
  } finally {
    answer.cancel()
  }
}

/** Takes what a decoder gives, up to the error that it ends with, which is returned. */
function failureOf(give: () => Iterable<Chunk>, chunks: Chunk[], reading: Reading): unknown {
  const { names } = reading
  try {
    for (const chunk of give()) chunks.push(names ? names.chunk(chunk) : chunk)
    return undefined
  } catch (error) {
    return coded(error, reading)
  }
}

/**
 * A protocol throws coded errors for what its provider does; events without an end are noticed for it. Anything else is
 * a mistake of its own: it is logged here, without its message, in which there may be words of the answer, and another
 * provider may still answer.
 */
function coded(error: unknown, { protocol, call, target, log }: Reading): unknown {
  if (isGatewayError(error)) return error
  if (error instanceof EventTooLarge) {
    const retryable = !call.cancel.aborted
    return protocolError(target, 'sent an event that is too large', { retryable, cause: error })
  }
  const { provider, model } = target
  const message = `The gateway could not read the answer of the provider ${provider.name}; its log says why.`
  log.error(
    { request_id: call.id, provider: provider.name, model, protocol: protocol.id, ...placeOf(error) },
    'a protocol failed to read an answer',
  )
  return new UpstreamError('internal_error', message, {
    provider: provider.name,
    model,
    fault: 'protocol',
    retryable: true,
    cause: error,
  })
}

/** The kind of an error and where it was thrown, which say nothing of what was read. */
function placeOf(error: unknown): { readonly error: string; readonly at?: string } {
  if (!(error instanceof Error)) return { error: typeof error }
  const frames = error.stack?.split('\n').filter((line) => /^ {4}at /.test(line)) ?? []
  return { error: error.name, at: frames.map((frame) => frame.trim()).join('\n') }
}
