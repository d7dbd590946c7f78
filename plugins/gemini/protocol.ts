import { fromWireUsage, type Protocol, type WireUsage } from '#kernel'
import { Changes } from '#provider'
import { answerOf, modelsIn } from './answer.ts'
import { chatBody } from './body.ts'
import { embeddingAnswer, embeddingBody, mostTexts } from './embedding.ts'
import { upstreamError } from './errors.ts'
import { pathOf } from './model.ts'
import { optionsSchema } from './options.ts'
import { quirksOf } from './quirks.ts'
import { headersOf, rootOf } from './request.ts'
import { AnswerDecoder } from './stream.ts'
import { structuredOutput } from './structured-output.ts'
import { tokenQuestion } from './tokens.ts'

/** The Gemini API. The key goes into a header: addresses end up in logs. */
export const geminiProtocol: Protocol = {
  id: 'gemini',
  options: optionsSchema,
  wires: { chat: 'gemini', embedding: 'gemini' },
  structuredOutput,

  encode(call, target) {
    const url = `${rootOf(target)}/${pathOf(target.model, quirksOf(target.provider))}`
    const changes = new Changes(call)
    if (call.operation === 'embedding') {
      const { method, body } = embeddingBody(call, target, changes)
      return {
        method: 'POST',
        url: `${url}:${method}`,
        headers: headersOf(target),
        body: JSON.stringify(body),
      }
    }
    return {
      method: 'POST',
      url: url + (call.stream ? ':streamGenerateContent?alt=sse' : ':generateContent'),
      headers: headersOf(target),
      body: JSON.stringify(chatBody(call, target, changes)),
    }
  },

  mostInputs: mostTexts,

  decode: (_, body, call, target) =>
    call.operation === 'embedding' ? embeddingAnswer(body, call, target) : answerOf(body, call, target),

  decoder: (_, call, target) => new AnswerDecoder(call, target),

  error: upstreamError,

  usage: (reported) => fromWireUsage(reported as WireUsage),

  tokens: tokenQuestion,

  check(target) {
    const { check } = quirksOf(target.provider)
    const path = check?.path ?? '/models?pageSize=1000'
    return {
      method: check ? 'POST' : 'GET',
      url: rootOf(target) + path,
      headers: headersOf(target),
      body: check && JSON.stringify(check.body),
    }
  },

  models: modelsIn,
}
