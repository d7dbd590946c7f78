import { type Context, HookFault } from '#kernel'
import { webAddress } from '#kit'
import type { Part } from '../workflows/step.ts'
import { filled, parsed, type Scope, type Value, valued } from '../workflows/value.ts'
import { StepFault } from './fault.ts'

type Http = Extract<Part, { type: 'http' }>

/** A request that is ready to be sent. */
export type HttpRequest = {
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
}

/** The request of a step, whose body may have `most` bytes. */
export function httpRequestOf(
  { config: { url, method, headers, body } }: Http,
  scope: Scope,
  most: number,
): HttpRequest {
  const { data: address } = webAddress.safeParse(filled(url, scope))
  if (address === undefined)
    throw new StepFault('address_refused', 'The address is no http or https address.')
  const said = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), filled(value, scope)])
  const content = body === undefined ? undefined : valued(body, scope, most)
  return {
    url: address,
    method,
    headers: {
      ...(content !== undefined && typeof content !== 'string' && { 'content-type': 'application/json' }),
      ...Object.fromEntries(said),
    },
    ...(content !== undefined && { body: typeof content === 'string' ? content : JSON.stringify(content) }),
  }
}

/**
 * Sends a request where plugins may send one, never to an address that is not public unless the operator allowed it. The output is
 * the status and the body: the value of JSON, else a text. Any status but 2xx is a failure.
 */
export async function runHttp(
  fetch: Context<unknown>['fetch'],
  request: HttpRequest,
  signal: AbortSignal,
  mostBytes: number,
): Promise<Value> {
  const response = await opened(fetch, request, signal)
  const { status, headers } = response
  const body = await reached(() => textOf(response.body, mostBytes), signal)
  const isJson = /[/+]json\b/.test(headers.get('content-type') ?? '')
  return { status, body: isJson ? parsed(body) : body }
}

/** Sends a request, and resolves when its answer begins. */
export async function opened(
  fetch: Context<unknown>['fetch'],
  { url, ...request }: HttpRequest,
  signal: AbortSignal,
): Promise<Response> {
  const response = await reached(() => fetch(url, { ...request, signal }), signal)
  const { status, ok } = response
  if (ok) return response
  await response.body?.cancel()
  throw new StepFault('http_status', `The service answered with ${status}.`, {
    mayPass: status === 429 || status >= 500,
  })
}

export async function textOf(body: AsyncIterable<Uint8Array> | null, most: number): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body ?? []) {
    size += part.length
    if (size > most) throw tooLong(most)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Errors of the network get a code. What they say of addresses inside is not for the users of the gateway. */
export async function reached<T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (signal.aborted) throw error
    if (error instanceof HookFault) throw notPublic()
    if (error instanceof TypeError)
      throw new StepFault('network', 'The service could not be reached.', { mayPass: true })
    throw error
  }
}

export const tooLong = (most: number) =>
  new StepFault('too_large', `The service answered with more than ${most} bytes.`)

const notPublic = () =>
  new StepFault('address_refused', 'The address is not public, and the operator has not allowed it.')
