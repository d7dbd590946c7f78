import {
  type Call,
  type Completion,
  fromWireUsage,
  type Protocol,
  type Target,
  UpstreamError,
  type UpstreamRequest,
  WholeReply,
  type WireUsage,
} from '#kernel'
import { upstreamError } from './errors.ts'
import { quirksOf } from './quirks.ts'
import { EventDecoder } from './stream.ts'

const paths = { chat: '/chat/completions', completion: '/completions', embedding: '/embeddings' } as const
const wires = { chat: 'chat', completion: 'completions', embedding: 'embeddings' } as const

/** OpenAI's API, and the dialects of those who are compatible with it. */
export const openaiProtocol: Protocol = {
  id: 'openai',
  wires,

  encode(call, target): UpstreamRequest {
    return {
      method: 'POST',
      url: target.provider.baseUrl + paths[call.operation],
      headers: headersOf(target),
      body: JSON.stringify(bodyOf(call, target)),
    }
  },

  decode(_, body, call, target) {
    const reply = WholeReply.fromBytes(wires[call.operation], body)
    if (body[0] === brace && body.at(-1)! <= closingBrace) return reply
    return checked(reply, target)
  },

  decoder(_, call, target) {
    return new EventDecoder(target, quirksOf(target.provider), call)
  },

  error: upstreamError,

  usage: (reported) => fromWireUsage(reported as WireUsage),

  check: (target) => ({
    method: 'GET',
    url: `${target.provider.baseUrl}/models`,
    headers: headersOf(target),
    body: undefined,
  }),
}

const brace = 0x7b
const closingBrace = 0x7d

/** An answer that does not even look like JSON is parsed at once, so that its failure can still be retried. */
function checked(reply: WholeReply, { provider, model }: Target): WholeReply {
  try {
    const body: Completion = reply.body
    if (typeof body === 'object' && body !== null) return reply
  } catch {
    // Not JSON: the same failure as JSON that is no object.
  }
  throw new UpstreamError(
    'provider_error',
    `The provider ${provider.name} answered with something that is not JSON.`,
    {
      provider: provider.name,
      model,
      fault: 'protocol',
      retryable: true,
    },
  )
}

function headersOf({ provider, key }: Target): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(key && { authorization: `Bearer ${key.secret}` }),
    ...provider.headers,
  }
}

/**
 * The body as it is sent. It is serialised anew, never passed on as it came: what the modules have seen is then what
 * the provider gets, also when a body names a field twice.
 */
function bodyOf(call: Call, target: Target): object {
  const { request } = call
  const quirks = quirksOf(target.provider)
  const body: Record<string, unknown> = { ...request, model: target.model }
  if (call.stream && call.operation !== 'embedding' && !quirks.noStreamUsage) {
    body.stream_options = { ...request.stream_options, include_usage: true }
  }
  return body
}
