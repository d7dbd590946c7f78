import { fromWireUsage, type Protocol, type WireUsage } from '#kernel'
import { answerOf } from './answer.ts'
import { upstreamError } from './errors.ts'
import { headersOf, ownHeaders } from './headers.ts'
import { planOf } from './plan.ts'
import { bodyFor, quirksOf, rootOf, urlOf } from './quirks.ts'
import { bodyOf } from './request.ts'
import { MessageDecoder } from './stream.ts'
import { structuredOutput } from './structured-output.ts'
import { tokenQuestion } from './tokens.ts'

/** Anthropic's Messages API. */
export const anthropicProtocol: Protocol = {
  id: 'anthropic',
  wires: { chat: 'messages' },
  structuredOutput,

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

  tokens: tokenQuestion,

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
