import { fromWireUsage, type Protocol, type WireUsage } from '#kernel'
import { Changes } from '#provider'
import { answerOf, idOf, modelsIn } from './answer.ts'
import { bodyOf } from './body.ts'
import { regionIn } from './credential.ts'
import { type Download, messagesOf } from './download.ts'
import { embeddingAnswer, embeddingBody, mostTexts } from './embedding.ts'
import { requestTo, segmentOf } from './endpoint.ts'
import { upstreamError } from './errors.ts'
import { optionsOf, optionsSchema } from './options.ts'
import { planOf } from './plan.ts'
import { ConverseDecoder } from './stream.ts'
import { structuredOutput } from './structured-output.ts'
import { tokenQuestion } from './tokens.ts'

/** Amazon Bedrock's Converse API. `download` gets files at addresses, which the service does not fetch itself. */
export const bedrockProtocol = (download: Download): Protocol => ({
  id: 'bedrock',
  options: optionsSchema,
  wires: { chat: 'bedrock', embedding: 'bedrock' },
  structuredOutput,

  async encode(call, target) {
    const { profiles } = optionsOf(target.provider)
    const model = segmentOf(profiles[target.model] ?? target.model)
    if (call.operation === 'embedding') {
      const body = embeddingBody(call, target, new Changes(call))
      return requestTo(target, {
        method: 'POST',
        path: `/model/${model}/invoke`,
        accept: 'application/json',
        body: JSON.stringify(body),
      })
    }
    const body = bodyOf(call, target, await messagesOf(call, download))
    return requestTo(target, {
      method: 'POST',
      path: `/model/${model}/${call.stream ? 'converse-stream' : 'converse'}`,
      accept: call.stream ? 'application/vnd.amazon.eventstream' : 'application/json',
      body: JSON.stringify(body),
    })
  },

  mostInputs: mostTexts,

  decode: (head, body, call, target) =>
    call.operation === 'embedding'
      ? embeddingAnswer(head, body, call, target)
      : answerOf(head, body, call, target),

  decoder: (head, call, target) => new ConverseDecoder(planOf(call, target), target, idOf(head, call)),

  error: upstreamError,

  usage: (reported) => fromWireUsage(reported as WireUsage),

  tokens: tokenQuestion(download),

  region: ({ key }) => key && regionIn(key.secret),

  check: (target) =>
    requestTo(target, {
      method: 'GET',
      path: '/foundation-models',
      accept: 'application/json',
      control: true,
    }),

  models: modelsIn,
})
