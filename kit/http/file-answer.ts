import { Readable } from 'node:stream'
import type { OpenResponse, SentForm } from '../../kernel/contract/answers.ts'
import { badRequest } from '../errors.ts'

/** A file. Browsers take it for what `type` says and for nothing else, and run nothing of it in this origin. */
export interface FileAnswer {
  /** Its bytes. A function reads from one byte to another, both included; ranges are answered of it and of bytes. */
  readonly body:
    | Uint8Array
    | AsyncIterable<Uint8Array>
    | ((from: number, to: number) => AsyncIterable<Uint8Array>)
  /** In bytes; needed where `body` is a function, and held to where it is known. */
  readonly size?: number
  /** A media type, or the ending of a file's name, such as `.js`. */
  readonly type: string
  /** The name under which browsers save it; without one they show it. */
  readonly name?: string
  /** A text that changes with the contents, without quotes: a client that has the contents already gets 304. */
  readonly etag?: string
  /** How long it may be kept, as `Cache-Control` says it. `private, no-cache` without it. */
  readonly cache?: string
}

/** Bytes from one to another, both included. */
interface Range {
  readonly from: number
  readonly to: number
}

/**
 * For `returns` of a route that answers with a file, or with the requested part of it; 304 if the client has it. Bytes are
 * read as fast as the client takes them, and not at all for HEAD. A failure before the first byte is an error of the
 * request's.
 */
export const fileAnswer: SentForm<FileAnswer> = { mediaType: '*/*', send: sendFile }

async function sendFile(response: OpenResponse, file: FileAnswer): Promise<void> {
  const size = sizeOf(file)
  const range = size === undefined ? undefined : rangeOf(response, file, size)
  if (file.etag !== undefined) response.etag = file.etag
  if (response.fresh) {
    response.status = 304
    return discard(file)
  }
  const part = range ?? { from: 0, to: (size ?? 0) - 1 }
  const length = size === undefined ? undefined : part.to - part.from + 1
  if (response.method === 'HEAD') await discard(file)
  else response.body = await opened(file, part, length)
  describe(response, file)
  // Koa forgets the length when it is given a stream.
  if (length !== undefined) response.length = length
  if (!range) return
  response.status = 206
  response.set('content-range', `bytes ${range.from}-${range.to}/${size}`)
}

function describe(response: OpenResponse, file: FileAnswer): void {
  const { type, name, cache = 'private, no-cache' } = file
  response.set({
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': cache,
    'accept-ranges': isSeekable(file) ? 'bytes' : 'none',
  })
  if (name !== undefined) response.attachment(name)
  response.type = type
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
function rangeOf(response: OpenResponse, file: FileAnswer, size: number): Range | undefined {
  const asked = /^bytes=(\d*)-(\d*)$/.exec(response.get('range').trim())
  if (!asked || response.method !== 'GET' || response.status !== 200 || !isSeekable(file)) return undefined
  const condition = response.get('if-range')
  if (condition !== '' && (file.etag === undefined || condition !== `"${file.etag}"`)) return undefined
  const [, first = '', last = ''] = asked
  if (first === '' && last === '') return undefined
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
  if (from <= to) return { from, to }
  response.set('content-range', `bytes */${size}`)
  throw badRequest(`The file has ${size} bytes; this range is not in it.`, { status: 416, param: 'Range' })
}
