import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { badRequest, ClientGone, circuitOpen, tooLarge } from '../../kit/errors.ts'
import { inflate } from '../../kit/http/inflate.ts'
import { findExcess, type JsonBounds } from '../../kit/json/json-bounds.ts'
import type { Cohort } from '../../kit/work/cohort.ts'
import { contain } from '../../kit/work/contain.ts'
import { SharedRoom } from '../../kit/work/shared-room.ts'

/** How large a body may be, in bytes once it is inflated, and how far its JSON may go. */
export interface BodyLimits extends JsonBounds {
  readonly bytes: number
  /** The room that bodies share while they are read. */
  readonly room?: BodyRoom
}

/** The room of bodies in memory that are not whole yet, each known by what ends it with an error. */
export type BodyRoom = SharedRoom<(error: Error) => void>

export const bodyRoom = (most: number): BodyRoom =>
  new SharedRoom({ most, free: 256 * 1024, evict: (refuse) => refuse(crowded()) })

/**
 * Reads a body up to a limit in bytes, and goes on in a cohort. Over it, or where there is no room, refuses at once, before reading
 * the rest.
 */
export function readBody(
  req: IncomingMessage,
  { bytes: limit, room }: Pick<BodyLimits, 'bytes' | 'room'>,
  cohort?: Cohort,
): Promise<Buffer> {
  const { 'content-length': announcedLength, 'content-encoding': encoding } = req.headers
  const announced = Number(announcedLength ?? 0)
  if (announced > limit) return Promise.reject(overLimit(limit))
  return new Promise((resolve, reject) => {
    const isPlain = encoding === undefined || encoding === 'identity'
    const content: Readable = isPlain ? req : inflate(req, encoding, reject)
    const parts: Buffer[] = []
    let size = 0
    const whole = (): void => resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts))
    const done = (): void => {
      room?.leave(refuse)
      if (cohort) cohort.gather(whole)
      else whole()
    }
    const refuse = (error: Error): void => {
      req.pause()
      if (!isPlain) content.destroy()
      parts.length = 0
      room?.leave(refuse)
      reject(error)
    }
    const take = contain('a body', (part: Buffer) => {
      size += part.length
      if (size > limit) {
        refuse(overLimit(limit))
        return
      }
      parts.push(part)
      room?.hold(refuse, size)
      // Node reports the end of a body only a few turns after its last announced byte.
      if (isPlain && size === announced) done()
    })
    content.on('data', take)
    if (!isPlain || !(announced > 0)) content.on('end', contain('the end of a body', done))
    req.on('error', () => reject(new ClientGone()))
    req.on('close', () => {
      if (!req.complete) refuse(new ClientGone())
    })
  })
}

const jsonType = /^application\/([\w.+-]+\+)?json\b/i

/** The JSON value of a management request; an empty object when it has no body. Throws a bad request for anything else. */
export async function readJson(req: IncomingMessage, limits: BodyLimits): Promise<unknown> {
  const bytes = await readBody(req, limits)
  if (bytes.length === 0) return {}
  const type = req.headers['content-type']
  if (type !== undefined && !jsonType.test(type)) {
    throw badRequest('The body must be JSON, sent as application/json.', {
      status: 415,
      param: 'Content-Type',
    })
  }
  const value = parseJson(bytes, limits)
  if (/__proto__|\\u00/.test(bytes.toString('latin1'))) refusePrototypes(value)
  return value
}

/** Refuses a key `__proto__` anywhere in a body, since a copy would take its value for the prototype of the object. */
function refusePrototypes(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (Object.hasOwn(value, '__proto__'))
    throw badRequest('The body has a key __proto__, which is not allowed.')
  for (const inner of Object.values(value)) refusePrototypes(inner)
}

/** The same limits for bodies whose texts may be lists of tokens: those have more values, and cost less for each. */
export const withTokens = (limits: BodyLimits): BodyLimits => ({ ...limits, nodes: 5 * limits.nodes })

/** The JSON value of a body, also behind a byte order mark (RFC 8259, 8.1). Throws a bad request for what is none, and for what goes too far. */
export function parseJson(bytes: Buffer, bounds: JsonBounds): unknown {
  if (bytes.length === 0) throw badRequest('The body is empty; send a JSON object.')
  const excess = findExcess(bytes, bounds)
  if (excess) throw tooFar(excess, bounds)
  try {
    const text = bytes.toString('utf8')
    return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text)
  } catch (error) {
    throw badRequest(`The body is not valid JSON: ${(error as Error).message.replace(/".*"/s, 'text')}.`)
  }
}

/** A body that has more bytes than it may. */
export const overLimit = (limit: number): Error =>
  tooLarge(
    `The body is larger than ${limit < 2 ** 20 ? `${limit} bytes` : `${Math.round(limit / 2 ** 20)} MB`}, the limit here.`,
  )

function tooFar(excess: keyof JsonBounds, { depth, nodes }: JsonBounds): Error {
  return excess === 'depth'
    ? badRequest(
        `The body is nested more than ${depth} levels deep. The operator sets the limit as server.body_depth.`,
      )
    : badRequest(`The body has more than ${nodes} values. The operator sets the limit as server.body_nodes.`)
}

const crowded = (): Error =>
  circuitOpen(
    'The gateway is receiving more large bodies than it has room for, and this one was not complete. Try again in a moment.',
    { type: 'overloaded', retryAfterS: 5 },
  )
