import type { IncomingMessage } from 'node:http'
import type { Cohort } from '../cohort.ts'
import { badRequest, ClientGone, tooLarge } from '../errors.ts'

/** Reads a body up to a limit in bytes, and goes on in a cohort. Over it, refuses at once, before reading the rest. */
export function readBody(req: IncomingMessage, limit: number, cohort: Cohort): Promise<Buffer> {
  const announced = Number(req.headers['content-length'] ?? 0)
  if (announced > limit) return Promise.reject(overLimit(limit))
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    const done = (): void =>
      cohort.gather(() => resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts)))
    req.on('data', (part: Buffer) => {
      size += part.length
      if (size > limit) {
        req.pause()
        reject(overLimit(limit))
        return
      }
      parts.push(part)
      // The end of what was announced is told a few turns later only.
      if (size === announced) done()
    })
    if (!(announced > 0)) req.on('end', done)
    req.on('error', () => reject(new ClientGone()))
    req.on('close', () => {
      if (!req.complete) reject(new ClientGone())
    })
  })
}

/** The JSON value of a body. */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw badRequest('The body is empty; send a JSON object.')
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw badRequest(`The body is not valid JSON: ${(error as Error).message.replace(/".*"/s, 'text')}.`)
  }
}

const overLimit = (limit: number) =>
  tooLarge(`The body is larger than ${Math.round(limit / 1024 / 1024)} MB, the limit here.`)
