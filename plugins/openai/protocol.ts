import type { Protocol, Target, WireUsage } from '#kernel'
import { answerOf, modelsIn } from './answer.ts'
import { bodyOf } from './body.ts'
import { upstreamError } from './errors.ts'
import { quirksOf } from './quirks.ts'
import { EventDecoder } from './stream.ts'
import { costOf, usageOf } from './usage.ts'

const paths = { chat: '/chat/completions', completion: '/completions', embedding: '/embeddings' } as const
const wires = { chat: 'chat', completion: 'completions', embedding: 'embeddings' } as const

/** OpenAI's API, and the dialects of those who are compatible with it. */
export const openaiProtocol: Protocol = {
  id: 'openai',
  wires,

  encode: (call, target) => ({
    method: 'POST',
    url: quirksOf(target.provider).base + paths[call.operation],
    headers: headersOf(target),
    body: JSON.stringify(bodyOf(call, target)),
  }),

  decode: (head, body, call, target) => answerOf(wires[call.operation], head, body, target),

  decoder: (_, call, target) => new EventDecoder(target, quirksOf(target.provider), call),

  error: upstreamError,

  usage: (reported, { provider }) => usageOf(reported as WireUsage, quirksOf(provider)),

  costUsd: (reported, { provider }) => costOf(reported, quirksOf(provider)),

  check(target) {
    const { base, check_path } = quirksOf(target.provider)
    return { method: 'GET', url: base + check_path, headers: headersOf(target), body: undefined }
  },

  models: modelsIn,
}

function headersOf({ provider, key }: Target): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(key && { authorization: `Bearer ${key.secret}` }),
    ...provider.headers,
  }
}
