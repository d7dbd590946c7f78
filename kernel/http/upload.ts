import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type Koa from 'koa'
import type { BodyForm, Upload } from '../contract/bodies.ts'
import { badRequest, ClientGone } from '../errors.ts'
import { overLimit, readBody } from './body.ts'
import { inflated } from './inflated.ts'

/** How long a client may send nothing before its upload is refused, in milliseconds. */
const stallMs = 60_000

/** A body that is no JSON, in the form that its route wants. Refuses other types than that one takes. */
export function takeBody(
  ctx: Koa.Context,
  { form, types, maxBytes }: BodyForm<unknown>,
  usual: number,
): Promise<Buffer> | Upload {
  if (types && ctx.is([...types]) === false) {
    throw badRequest(`The body must be ${types.join(' or ')}.`, { status: 415, param: 'Content-Type' })
  }
  const limit = maxBytes ?? usual
  return form === 'raw' ? readBody(ctx.req, limit) : openUpload(ctx.req, limit)
}

/**
 * The body of a request, to be read once, as it comes. Refuses what is announced to be over the limit at once, and the
 * rest as soon as it is over. Reading throws when the client stalls or leaves.
 */
function openUpload(req: IncomingMessage, limit: number): Upload {
  const { 'content-length': announced, 'content-encoding': encoding, 'content-type': type } = req.headers
  if (Number(announced ?? 0) > limit) throw overLimit(limit)
  const isPlain = encoding === undefined || encoding === 'identity'
  let wrong: Error | undefined
  const content: Readable = isPlain
    ? req
    : inflated(req, encoding, (error) => {
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
