import type { TokenQuestion } from '#kernel'
import { objectIn } from '#provider'
import { headersOf, ownHeaders } from './headers.ts'
import { bodyFor, urlOf } from './quirks.ts'
import { bodyOf } from './request.ts'

/** Fields of a message that change nothing about its prompt, and that the counting endpoint refuses. */
const unasked = [
  'max_tokens',
  'stream',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'metadata',
  'service_tier',
  'inference_geo',
] as const

/** Anthropic's endpoint that counts a message's tokens, and those of the services that run Claude. */
export const tokenQuestion: TokenQuestion = {
  exact: true,

  encode(call, target) {
    const body = bodyOf(call.withRequest({ max_tokens: undefined }), target)
    for (const field of unasked) delete body[field]
    return {
      method: 'POST',
      url: urlOf(target, 'count'),
      headers: { ...headersOf(target), ...ownHeaders(call), ...target.provider.headers },
      body: bodyFor(target, body, 'count'),
    }
  },

  decode: (body) => objectIn(body.toString('utf8'))?.input_tokens as number | undefined,
}
