import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { BodyForm } from '../../kernel/contract/bodies.ts'
import { type BodyLimits, overLimit, readBody } from '../../kernel/http/body.ts'
import { badRequest, ClientGone } from '../errors.ts'
import { inflate } from './inflate.ts'

/** The body of a request as it comes: bytes, no faster than they are read. Reading throws when the client leaves. */
export interface Upload extends AsyncIterable<Uint8Array> {
  /** As the client named it in `Content-Type`. */
  readonly type: string | undefined
  /** In bytes, where the client said so and compressed nothing. */
  readonly size: number | undefined
}

export interface BodyOptions {
  /** In bytes, once inflated; over it the request is refused with 413. `server.body_limit` without it, of public routes at most 64 KB. */
  readonly maxBytes?: number
  /** Media types that are taken, such as `text/csv` or `image/*`; any without it. */
  readonly types?: readonly string[]
}

/** How long a client may send nothing before its upload is refused, in milliseconds. */
const stallMs = 60_000

/** For `body` of a route that is given all bytes at once. */
export const rawBody = (options: BodyOptions = {}): BodyForm<Buffer> => bodyForm(options, readBody)

/** For `body` of a route that reads the bytes as they come, so that none has to be kept in memory. */
export const streamedBody = (options: BodyOptions = {}): BodyForm<Upload> => bodyForm(options, openUpload)

/** A form that refuses other types than it takes, before anything is read. */
const bodyForm = <B>(
  { types, maxBytes }: BodyOptions,
  open: (req: IncomingMessage, limits: Pick<BodyLimits, 'bytes' | 'room'>) => B | Promise<B>,
): BodyForm<B> => ({
  ...(types && { types }),
  read(request, usual, room) {
    if (types && request.is([...types]) === false)
      throw badRequest(`The body must be ${types.join(' or ')}.`, { status: 415, param: 'Content-Type' })
    return open(request.req, { bytes: maxBytes ?? usual, ...(room && { room }) })
  },
})

/**
 * The body of a request, to be read once, as it comes. Refuses what is announced to be over the limit at once, and the
 * rest as soon as it is over. Reading throws when the client stalls or leaves.
 */
function openUpload(req: IncomingMessage, { bytes: limit }: Pick<BodyLimits, 'bytes'>): Upload {
  const { 'content-length': announced, 'content-encoding': encoding, 'content-type': type } = req.headers
  if (Number(announced ?? 0) > limit) throw overLimit(limit)
  const isPlain = encoding === undefined || encoding === 'identity'
  let wrong: Error | undefined
  const content: Readable = isPlain
    ? req
    : inflate(req, encoding, (error) => {
        wrong = error
      })
  return {
    type,
    size: isPlain && announced !== undefined ? Number(announced) : undefined,
    async *[Symbol.asyncIterator]() {
      // The connection stays open, so that the client can get the error of a wrong body.
      const parts = content.iterator({ destroyOnReturn: false })
      let size = 0
      try {
        for (;;) {
          const { done, value } = await inTime(parts.next())
          if (done) return
          size += value.length
          if (size > limit) throw overLimit(limit)
          yield value as Buffer
        }
      } catch (error) {
        if (wrong) throw wrong
        throw req.destroyed && !req.complete ? new ClientGone() : error
      }
    },
  }
}

/** The next part; rejects when it does not come. */
function inTime<T>(next: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stalled = (): void =>
      reject(badRequest(`No part of the body arrived for ${stallMs / 1000} s.`, { status: 408 }))
    const timer = setTimeout(stalled, stallMs)
    next.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
