import { setImmediate as breathe } from 'node:timers/promises'
import {
  type Awaitable,
  type Call,
  type Chunk,
  isGatewayError,
  type Log,
  type Protocol,
  type StreamDecoder,
  type Target,
  UpstreamError,
  type WholeReply,
} from '#kernel'
import { EventRefused, isTooDeep } from '#kit'
import { protocolError } from '../kit/provider-facts.ts'
import type { UpstreamAnswer } from '../transport/upstream-answer.ts'
import type { ChunkSource } from './attempt-stream.ts'
import { flawOf } from './flaw.ts'
import type { ToolNames } from './tool-names.ts'

/** The parts that reading an answer takes. */
export interface Reading {
  readonly protocol: Protocol
  readonly call: Call
  readonly target: Target
  readonly log: Log
  /** The way back for names of tools that the provider knows by others. */
  readonly names: ToolNames | undefined
}

/** A plain answer, read whole. A promise only when the bytes are not there yet. */
export function decodedWhole(answer: UpstreamAnswer, reading: Reading): Awaitable<WholeReply> {
  const body = answer.whole()
  return body instanceof Promise
    ? body.then((bytes) => decoded(answer, bytes, reading))
    : decoded(answer, body, reading)
}

function decoded(answer: UpstreamAnswer, body: Buffer, reading: Reading): WholeReply {
  const { protocol, call, target, names } = reading
  if (isTooDeep(body)) {
    throw protocolError(target, 'sent an answer that is nested too deeply', {
      retryable: !call.cancel.aborted,
    })
  }
  let reply: WholeReply
  try {
    reply = protocol.decode(answer, body, call, target)
  } catch (error) {
    throw coded(error, reading)
  }
  const flaw = flawIn(reply, call)
  if (flaw !== undefined) throw protocolError(target, flaw, { retryable: true })
  return names ? names.reply(reply) : reply
}

/** An answer is read before it goes on: one that was cut off is a failure as long as nothing of it was sent. */
function flawIn(reply: WholeReply, call: Call): string | undefined {
  try {
    return flawOf(reply.body, call)
  } catch (error) {
    if (error instanceof SyntaxError) return 'answered with something that is not JSON, or with a part of it'
    throw error
  }
}

/**
 * The chunks of an answer, batch by batch as its bytes come; those before an error are given before it is thrown.
 * Leaving it early closes the connection.
 */
export class DecodedChunks implements ChunkSource {
  readonly #answer: UpstreamAnswer
  readonly #reading: Reading
  #decoder: StreamDecoder | undefined
  /** What is left of bytes that came together and were too many for one read. */
  #rest: Buffer | undefined
  #failure: unknown
  #isRead = false
  #isLeft = false

  constructor(answer: UpstreamAnswer, reading: Reading) {
    this.#answer = answer
    this.#reading = reading
  }

  /** A promise only while the bytes are not there yet, or where others have a turn. */
  read(): Awaitable<readonly Chunk[] | undefined> {
    try {
      while (!this.#isRead && this.#failure === undefined) {
        if (this.#rest) return breathe().then(this.#readOn)
        const bytes = this.#answer.read()
        if (bytes instanceof Promise) return bytes.then(this.#goOn, this.#break)
        const chunks = this.#decoded(bytes)
        if (chunks.length > 0) return chunks
      }
      if (this.#failure !== undefined) throw this.#failure
    } catch (error) {
      return this.#break(error)
    }
    this.leave()
    return undefined
  }

  leave(): void {
    this.#isLeft = true
    this.#isRead = true
    this.#rest = undefined
    this.#failure = undefined
    this.#answer.cancel()
  }

  readonly #readOn = (): Awaitable<readonly Chunk[] | undefined> => this.#goOn(this.#rest && [this.#rest])

  readonly #goOn = (bytes: readonly Buffer[] | undefined): Awaitable<readonly Chunk[] | undefined> => {
    if (this.#isLeft) return undefined
    const chunks = this.#decoded(bytes)
    return chunks.length > 0 ? chunks : this.read()
  }

  /** Fails the read, unless the reader has left: then the failure to get the next bytes does not matter. */
  readonly #break = (error: unknown): undefined => {
    if (this.#isLeft) return undefined
    this.leave()
    throw error
  }

  #decoded(bytes: readonly Buffer[] | undefined): Chunk[] {
    const { protocol, call, target } = this.#reading
    this.#decoder ??= protocol.decoder(this.#answer, call, target)
    const decoder = this.#decoder
    const chunks: Chunk[] = []
    this.#isRead = bytes === undefined
    // A provider sends each event as a piece of its own; together those that are alike are one chunk.
    const give = () => (bytes === undefined ? decoder.end() : decoder.push(this.#first(joined(bytes))))
    this.#failure = failureOf(give, chunks, this.#reading)
    if (decoder.isOver && this.#failure === undefined) {
      this.#isRead = true
      this.#rest = undefined
      this.#answer.finish()
    }
    return chunks
  }

  /** As many of these bytes as are read at once; the others are left for the next read. */
  #first(bytes: Buffer): Buffer {
    if (bytes.length <= atOnce) {
      this.#rest = undefined
      return bytes
    }
    this.#rest = bytes.subarray(atOnce)
    return bytes.subarray(0, atOnce)
  }
}

/** Bytes that are read and pass all filters without a turn for other streams and calls: they may be a thousand events. */
const atOnce = 64 * 1024

const joined = (parts: readonly Buffer[]): Buffer => (parts.length === 1 ? parts[0]! : Buffer.concat(parts))

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
 * A protocol throws coded errors for what its provider does; events without an end or a bottom are noticed for it. Anything else is
 * a mistake of its own: it is logged here, without its message, in which there may be words of the answer, and another
 * provider may still answer.
 */
function coded(error: unknown, { protocol, call, target, log }: Reading): unknown {
  if (isGatewayError(error)) return error
  if (error instanceof EventRefused) {
    const retryable = !call.cancel.aborted
    return protocolError(target, `sent ${error.message}`, { retryable, cause: error })
  }
  const { provider, model } = target
  const message = `The gateway could not read the answer of the provider ${provider.name}; its log has the reason.`
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
