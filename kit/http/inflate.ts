import type { IncomingMessage } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { badRequest } from '../errors.ts'
import { contain } from '../work/contain.ts'

const inflaters: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/**
 * The content of a request whose body is compressed, inflated no faster than it is read. The reader must limit it, since a few
 * bytes can become any number. `failed` receives the error of broken content. Throws for an unknown encoding.
 */
export function inflate(req: IncomingMessage, encoding: string, failed: (error: Error) => void): Readable {
  const name = encoding.trim().toLowerCase()
  const create = Object.hasOwn(inflaters, name) ? inflaters[name] : undefined
  if (!create) {
    const known = Object.keys(inflaters).join(', ')
    throw badRequest(
      `The Content-Encoding ${encoding} is not supported; send the body uncompressed, or as ${known}.`,
      {
        status: 415,
        param: 'Content-Encoding',
      },
    )
  }
  const content = create()
  const wrong = badRequest(`The body does not match its Content-Encoding, ${encoding}.`)
  content.on(
    'error',
    contain('a compressed body', () => failed(wrong)),
  )
  req.once('close', () => {
    if (!req.complete) content.destroy()
  })
  return req.pipe(content)
}
