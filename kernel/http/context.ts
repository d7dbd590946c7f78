import type { IncomingHttpHeaders } from 'node:http'
import { badRequest } from '../../kit/errors.ts'
import type { CallContext } from '../call/call.ts'

const maxTags = 20
const maxTagBytes = 128
const none: Readonly<Record<string, string>> = Object.freeze({})

/** The context of a proxied request, from its headers. Throws a bad request for headers that do not parse. */
export function callContextOf(headers: IncomingHttpHeaders, ip: string, generation: number): CallContext {
  return {
    project: single(headers['x-project'], 'X-Project') ?? 'default',
    tags: tagsOf(single(headers['x-service-tags'], 'X-Service-Tags', maxTags * (maxTagBytes + 1) * 3)),
    sessionId: single(headers['x-session-id'], 'X-Session-Id'),
    ip,
    provider: single(headers['x-provider'], 'X-Provider')?.toLowerCase(),
    headers,
    source: 'proxy',
    generation,
  }
}

function single(value: string | string[] | undefined, name: string, longest = 200): string | undefined {
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw badRequest(`${name} was sent more than once.`, { param: name })
  if (value.length > longest)
    throw badRequest(`${name} is longer than ${longest} characters.`, { param: name })
  return value
}

function tagsOf(header: string | undefined): Readonly<Record<string, string>> {
  if (header === undefined) return none
  const pairs = header.split(',').map(tagOf)
  if (pairs.length > maxTags) throw wrongTags(`has ${pairs.length} tags, at most ${maxTags} are allowed`)
  return Object.fromEntries(pairs)
}

function tagOf(pair: string): [string, string] {
  const [name, ...rest] = pair.split('=').map(decode)
  if (!name || rest.length !== 1) throw wrongTags('must be key=value pairs, separated by commas')
  if (Buffer.byteLength(`${name}=${rest[0]}`) > maxTagBytes)
    throw wrongTags(`has a tag over ${maxTagBytes} bytes`)
  return [name, rest[0]!]
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.trim())
  } catch {
    throw wrongTags('is percent-encoded wrongly')
  }
}

const wrongTags = (what: string) => badRequest(`X-Service-Tags ${what}.`, { param: 'X-Service-Tags' })
