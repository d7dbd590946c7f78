import type { ServerResponse } from 'node:http'
import { type Chunk, finishChunk } from '../../kit/canonical/chunk.ts'
import type { FinishReason } from '../../kit/canonical/forms.ts'
import { ClientGone, type GatewayError } from '../../kit/errors.ts'
import { roomOf } from '../../kit/http/room-of.ts'
import { mostTogether, partsOf } from '../../kit/streams/parts-of-batch.ts'
import type { Cancel } from '../../kit/work/cancel.ts'
import type { StreamEncoder } from '../call/wire.ts'
import { toGatewayError } from '../to-gateway-error.ts'

/** A streamed answer on its way to the client, no faster than the client reads. */
export class StreamedAnswer {
  /** Of the last choice that ended. */
  finishReason: FinishReason | undefined
  /** Events of chunks that were handed to the client. */
  chunks = 0
  readonly #res: ServerResponse
  readonly #encoder: StreamEncoder
  readonly #begin: (hasContent: boolean) => void
  readonly #show: (error: GatewayError) => GatewayError

  /**
   * `begin` sends the head; until there is content an error can still be an answer of its own. `show` makes of an error what
   * the client gets of it.
   */
  constructor(
    res: ServerResponse,
    encoder: StreamEncoder,
    begin: (hasContent: boolean) => void,
    show: (error: GatewayError) => GatewayError,
  ) {
    this.#show = show
    this.#res = res
    this.#encoder = encoder
    this.#begin = begin
  }

  /**
   * Rejects with the error that ended the stream early; an answer that has begun is then closed as the wire has it for
   * failures.
   */
  async send(batches: AsyncIterable<readonly Chunk[]>, cancel: Cancel, requestId: string): Promise<void> {
    let last: readonly Chunk[] = []
    try {
      for await (const batch of batches) {
        cancel.check()
        last = batch
        const room = batch.length > mostTogether ? this.#inParts(batch, cancel) : this.#write(batch)
        if (room) await room
      }
      cancel.check()
    } catch (error) {
      if (this.#res.headersSent && !(error instanceof ClientGone))
        this.#breakOff(last, toGatewayError(error), requestId)
      throw error
    }
    if (!this.#res.headersSent) this.#begin(false)
    this.#res.end(this.#encoder.end())
  }

  /** Writes what a module has let go at once, with turns for other work. */
  async #inParts(batch: readonly Chunk[], cancel: Cancel): Promise<void> {
    for await (const part of partsOf(batch, cancel)) await this.#write(part)
  }

  #write(batch: readonly Chunk[]): void | Promise<void> {
    const bytes = this.#encoder.chunks(batch)
    const hasRoom = this.#send(bytes)
    for (const { seen, events } of batch) {
      this.chunks += events
      for (const choice of seen?.choices ?? [])
        if (choice.finish_reason) this.finishReason = choice.finish_reason
    }
    if (!hasRoom) return roomOf(this.#res)
  }

  /** Sends bytes at once, with the head before the first: left alone, Node waits until all else that is due has run. */
  #send(bytes: Buffer | string): boolean {
    const { socket } = this.#res
    socket?.cork()
    try {
      if (!this.#res.headersSent) this.#begin(true)
      return bytes.length === 0 || this.#res.write(bytes)
    } finally {
      socket?.uncork()
    }
  }

  /** Ends a stream that has begun: blocked content with its finish reason, everything with an error of the wire. */
  #breakOff(last: readonly Chunk[], error: GatewayError, requestId: string): void {
    const like = last.at(-1)
    const blocked = error.type === 'content_blocked' && like
    const cut = blocked ? this.#encoder.chunks([finishChunk(like.data, [0], 'content_filter')]) : ''
    this.#res.write(cut)
    this.#res.end(this.#encoder.fail(this.#show(error), requestId))
  }
}
