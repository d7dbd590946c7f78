import type { IncomingHttpHeaders } from 'node:http'
import { badRequest, type CallCredential, type Context, isGatewayError } from '#kernel'
import { ProviderDirectory } from '#provider'

/** How keys of a gateway begin. */
const ofGateway = /^(?:sy_|sk-sy-)/

/**
 * The key to attack with. The key by which the caller came is none to pass on: the gateway is attacked in its name anyway. Throws for
 * another key of a gateway, which only an address may be sent.
 */
export function keyToSend(
  key: string | undefined,
  url: string | undefined,
  headers: IncomingHttpHeaders,
): string | undefined {
  if (key === undefined || url !== undefined) return key
  if (keysIn(headers).includes(key)) return undefined
  if (!ofGateway.test(key)) return key
  throw badRequest(
    'This `api_key` is a key of the gateway, and not yours: send the request with it to attack in its name.',
    { param: 'api_key' },
  )
}

function keysIn(headers: IncomingHttpHeaders): unknown[] {
  const bearer = headers.authorization?.replace(/^bearer /i, '').trim()
  return [bearer, headers['x-admin-key'], headers['x-api-key'], headers['x-goog-api-key']]
}

/** A key with the provider that it is for: the one that the model names, or else gets it. Throws where there is none. */
export function credentialFor(
  { use }: Pick<Context<unknown>, 'use'>,
  model: string,
  key: string,
): CallCredential {
  try {
    const [route] = use(ProviderDirectory).resolve(model, undefined)
    if (route) return { provider: route.provider.name, key }
  } catch (error) {
    if (!isGatewayError(error) || error.code !== 'not_found') throw error
  }
  throw badRequest(
    `No provider serves the model ${model}, so an \`api_key\` is for none: name one in \`model\`, as in \`openai/gpt-4o\`.`,
    { param: 'api_key' },
  )
}
