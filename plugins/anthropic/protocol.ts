import { type Call, fromWireUsage, type Protocol, type Target, type WireUsage } from '#kernel'
import { answerOf } from './answer.ts'
import { upstreamError } from './errors.ts'
import { fitOf } from './fit.ts'
import { isNative } from './native.ts'
import { planOf } from './plan.ts'
import { bodyFor, quirksOf, rootOf, urlOf } from './quirks.ts'
import { bodyOf } from './request.ts'
import { MessageDecoder } from './stream.ts'

/** The version whose parameters are translated to; callers that speak the protocol themselves name their own. */
const version = '2023-06-01'

/** Anthropic's Messages API. */
export const anthropicProtocol: Protocol = {
  id: 'anthropic',
  wires: { chat: 'messages' },

  encode: (call, target) => ({
    method: 'POST',
    url: urlOf(target, call.stream ? 'stream' : 'message'),
    headers: { ...headersOf(target), ...ownHeaders(call), ...target.provider.headers },
    body: bodyFor(target, bodyOf(call, target)),
  }),

  decode: (_, body, call, target) => answerOf(body, planOf(call, target), target),

  decoder: (_, call, target) => new MessageDecoder(target, planOf(call, target)),

  error: upstreamError,

  usage: (reported) => fromWireUsage(reported as WireUsage),

  check(target) {
    const headers = { ...headersOf(target), ...target.provider.headers }
    const { check_model: model } = quirksOf(target.provider)
    if (model === undefined) {
      return {
        method: 'GET',
        url: `${rootOf(target.provider)}/v1/models?limit=1000`,
        headers,
        body: undefined,
      }
    }
    const body = bodyFor(target, { model, messages: [{ role: 'user', content: 'hi' }] }, 'count')
    return { method: 'POST', url: urlOf(target, 'count'), headers, body }
  },

  models(body) {
    const { data } = JSON.parse(body.toString('utf8')) as { data?: readonly { id?: unknown }[] }
    return data?.flatMap(({ id }) => (typeof id === 'string' ? [id] : []))
  },
}

/** What every request carries. */
export function headersOf({ key }: Target): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json',
    'anthropic-version': version,
    ...(key && { 'x-api-key': key.secret }),
  }
}

/** Version and betas that a caller of the same protocol counts on. */
function ownHeaders(call: Call): Record<string, string> {
  const { 'anthropic-version': asked, 'anthropic-beta': beta } = call.context.headers
  const betas = [...(typeof beta === 'string' ? beta.split(/\s*,\s*/) : []), ...fitOf(call).betas]
  return {
    ...(isNative(call) && typeof asked === 'string' && { 'anthropic-version': asked }),
    ...(betas.length > 0 && { 'anthropic-beta': [...new Set(betas)].join(',') }),
  }
}
