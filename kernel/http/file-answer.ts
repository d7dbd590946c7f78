import { Readable } from 'node:stream'
import type Koa from 'koa'
import type { FileAnswer } from '../contract/answers.ts'
import { badRequest } from '../errors.ts'

/** Bytes from one to another, both included. */
interface Range {
  readonly from: number
  readonly to: number
}

/**
 * Answers with a file, or with the requested part of it; 304 if the client has it. Bytes are read as fast as the client takes
 * them, and not at all for HEAD. A failure before the first byte is an error of the request's.
 */
export async function sendFile(ctx: Koa.Context, file: FileAnswer): Promise<void> {
  const size = sizeOf(file)
  const range = size === undefined ? undefined : rangeOf(ctx, file, size)
  if (file.etag !== undefined) ctx.etag = file.etag
  if (ctx.fresh) {
    ctx.status = 304
    return discard(file)
  }
  const part = range ?? { from: 0, to: (size ?? 0) - 1 }
  const length = size === undefined ? undefined : part.to - part.from + 1
  if (ctx.method === 'HEAD') await discard(file)
  else ctx.body = await opened(file, part, length)
  describe(ctx, file)
  // Koa forgets the length when it is given a stream.
  if (length !== undefined) ctx.length = length
  if (!range) return
  ctx.status = 206
  ctx.set('content-range', `bytes ${range.from}-${range.to}/${size}`)
}

function describe(ctx: Koa.Context, file: FileAnswer): void {
  const { type, name, cache = 'private, no-cache' } = file
  ctx.set({
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': cache,
    'accept-ranges': isSeekable(file) ? 'bytes' : 'none',
  })
  if (name !== undefined) ctx.attachment(name)
  ctx.type = type
}

/** Its bytes, of which the first are there. */
async function opened(
  { body }: FileAnswer,
  { from, to }: Range,
  length: number | undefined,
): Promise<Buffer | Readable> {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset + from, to - from + 1)
  const parts = exactly(typeof body === 'function' ? body(from, to) : body, length)
  const first = await parts.next()
  return Readable.from(resumed(first, parts), { objectMode: false })
}

/** The same bytes; throws when they are more or fewer than was said, so that the connection ends and not the file. */
async function* exactly(
  parts: AsyncIterable<Uint8Array>,
  length: number | undefined,
): AsyncGenerator<Uint8Array> {
  let sent = 0
  for await (const part of parts) {
    sent += part.length
    if (length !== undefined && sent > length) break
    yield part
  }
  if (length !== undefined && sent !== length) throw new Error(`A file of ${length} bytes has another size.`)
}

async function* resumed(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (!first.done) yield first.value
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

/** Discards a body that is not read. */
async function discard({ body }: FileAnswer): Promise<void> {
  if (body instanceof Readable) body.destroy()
  else if (Symbol.asyncIterator in body) await body[Symbol.asyncIterator]().return?.()
}

const isSeekable = ({ body }: FileAnswer): boolean => body instanceof Uint8Array || typeof body === 'function'

function sizeOf({ body, size }: FileAnswer): number | undefined {
  if (body instanceof Uint8Array) return body.length
  if (typeof body === 'function' && size === undefined)
    throw new Error('A file that is read from one byte to another needs its size.')
  return size
}

/** The one part that is asked for; undefined for the whole. Throws 416 for a part that there is not. */
function rangeOf(ctx: Koa.Context, file: FileAnswer, size: number): Range | undefined {
  const asked = /^bytes=(\d*)-(\d*)$/.exec(ctx.get('range').trim())
  if (!asked || ctx.method !== 'GET' || ctx.status !== 200 || !isSeekable(file)) return undefined
  const condition = ctx.get('if-range')
  if (condition !== '' && (file.etag === undefined || condition !== `"${file.etag}"`)) return undefined
  const [, first = '', last = ''] = asked
  if (first === '' && last === '') return undefined
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
  if (from <= to) return { from, to }
  ctx.set('content-range', `bytes */${size}`)
  throw badRequest(`The file has ${size} bytes; this range is not in it.`, { status: 416, param: 'Range' })
}
