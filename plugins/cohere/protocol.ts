import { fromWireUsage, type Protocol, type WireUsage } from '#kernel'
import { Changes, reportUnsaid } from '#provider'
import { answerOf, modelsIn } from './answer.ts'
import { embeddingAnswer, embeddingBody, mostTexts } from './embedding.ts'
import { upstreamError } from './errors.ts'
import { messagesOf } from './messages.ts'
import { parametersOf } from './parameters.ts'
import { headersOf, rootOf } from './request.ts'
import { EventDecoder } from './stream.ts'
import { structuredOutput } from './structured-output.ts'
import { tokenQuestion } from './tokens.ts'
import { toolFields } from './tools.ts'

/** Cohere's API, version 2. */
export const cohereProtocol: Protocol = {
  id: 'cohere',
  wires: { chat: 'cohere', embedding: 'cohere' },
  structuredOutput,

  encode(call, target) {
    const { request, operation, stream } = call
    const changes = new Changes(call)
    reportUnsaid(call, changes)
    const body =
      operation === 'embedding'
        ? embeddingBody(call, target, changes)
        : {
            model: target.model,
            stream,
            messages: messagesOf(request.messages ?? [], changes),
            ...parametersOf(request, target.model, changes),
            ...toolFields(request, changes),
          }
    const path = operation === 'embedding' ? '/v2/embed' : '/v2/chat'
    return {
      method: 'POST',
      url: rootOf(target) + path,
      headers: headersOf(target),
      body: JSON.stringify(body),
    }
  },

  mostInputs: () => mostTexts,

  decode: (_, body, call, target) =>
    call.operation === 'embedding' ? embeddingAnswer(body, call, target) : answerOf(body, call, target),

  decoder: (_, call, target) => new EventDecoder(call, target),

  error: upstreamError,

  usage: (reported) => fromWireUsage(reported as WireUsage),

  tokens: tokenQuestion,

  check: (target) => ({
    method: 'GET',
    url: `${rootOf(target)}/v1/models?page_size=1000`,
    headers: headersOf(target),
    body: undefined,
  }),

  models: modelsIn,
}
