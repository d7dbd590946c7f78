import { type Call, fromWireUsage, type Protocol, type WireUsage } from '#kernel'
import { answerOf, modelsIn } from './answer.ts'
import { bodyOf } from './body.ts'
import { upstreamError } from './errors.ts'
import { headersOf } from './headers.ts'
import { moderationQuestion } from './moderation.ts'
import { optionsSchema, type Quirks, quirksOf } from './quirks.ts'
import { EventDecoder } from './stream.ts'
import { structuredOutput } from './structured-output.ts'
import { tokenQuestion } from './tokens.ts'
import { costOf } from './usage.ts'

const paths = { chat: '/chat/completions', completion: '/completions', embedding: '/embeddings' } as const
const wires = { chat: 'chat', completion: 'completions', embedding: 'embeddings' } as const

/** OpenAI's API and the dialects of compatible providers. */
export const openaiProtocol: Protocol = {
  id: 'openai',
  options: optionsSchema,
  wires,
  structuredOutput,

  encode(call, target) {
    const quirks = quirksOf(target.provider)
    const model = quirks.deployments.get(target.model) ?? target.model
    return {
      method: 'POST',
      url: addressOf(quirks, paths[call.operation], model),
      headers: headersOf(target),
      body: written(bodyOf(call, { ...target, model }), call),
    }
  },

  decode: (head, body, { operation }, target) => answerOf(wires[operation], head, body, target),

  decoder: (_, call, target) => new EventDecoder(target, quirksOf(target.provider), call),

  error: upstreamError,

  usage: (reported) => fromWireUsage(reported as WireUsage),

  tokens: tokenQuestion,
  moderation: moderationQuestion,

  costUsd: (reported, { provider }) => costOf(reported, quirksOf(provider)),

  check(target) {
    const url = addressOf(quirksOf(target.provider))
    return { method: 'GET', url, headers: headersOf(target), body: undefined }
  },

  models: modelsIn,
}

/** The body as text; the one of the request where it has the same fields. */
function written(body: Readonly<Record<string, unknown>>, { request, trace }: Call): string {
  return isSame(body, request) ? trace.json(request) : JSON.stringify(body)
}

function isSame(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  let fields = 0
  for (const field in a) {
    if (a[field] !== b[field]) return false
    fields += 1
  }
  for (const _ in b) fields -= 1
  return fields === 0
}

/** The address of an endpoint for a model, or of what a check asks for. */
function addressOf({ base, by_model, check_path }: Quirks, path?: string, model = ''): string {
  if (!by_model) return base + (path ?? check_path)
  const below =
    path === undefined
      ? by_model.check_path
      : by_model.path.replace('{model}', encodeURIComponent(model)) + path
  return `${base}${below}?${new URLSearchParams(by_model.query)}`
}
