import { z } from 'zod'
import type { Call } from '#kernel'
import { compileGlobs, expectedTokens, modelName } from '#kit'
import type { Endpoints } from './endpoints.ts'

const name = z.string().min(1).max(256)

export const simpleSchema = z.strictObject({
  model: name.regex(/^[^/]+\/.+$/, 'expected provider/model').meta({
    title: 'Model',
    description: 'The local model for simple calls, as provider/model: ollama/llama3.2.',
  }),
  max_tokens: z.int().min(1).max(1_000_000).default(500).meta({
    title: 'Bound',
    description:
      'Tokens of the prompt and the answer together, up to which a call is simple. An answer without a limit of its own counts with 256.',
  }),
  models: z.array(name).min(1).max(100).default(['*']).meta({
    title: 'Models',
    description: 'Names and globs of requested models whose simple calls go there.',
  }),
})

/** Fields with which a call asks for more than words. */
const demanding = [
  'tools',
  'functions',
  'response_format',
  'reasoning',
  'reasoning_effort',
  'logprobs',
  'audio',
  'modalities',
  'prediction',
  'web_search_options',
] as const

/**
 * The local model for a call that is simple: a chat or a completion in words alone, with one answer, that is short and names no
 * provider. Undefined for other calls, and while the server is known to be down.
 */
export function compileSimple(
  { model, max_tokens: most, models }: z.infer<typeof simpleSchema>,
  endpoints: Pick<Endpoints, 'find'>,
): (call: Call) => string | undefined {
  const isMeant = compileGlobs(models)
  const [provider = ''] = model.split('/')
  return (call) => {
    const { request, operation, context } = call
    if (operation === 'embedding' || context.provider !== undefined || modelName(call).provider !== undefined)
      return undefined
    if (endpoints.find(provider)?.status === 'down' || !isMeant(request.model)) return undefined
    if (demanding.some((field) => request[field] !== undefined) || (request.n ?? 1) > 1) return undefined
    if (!isText(request.messages)) return undefined
    const { input, output } = expectedTokens(call)
    return input + output <= most ? model : undefined
  }
}

const isText = (messages: Call['request']['messages']): boolean =>
  (messages ?? []).every(
    ({ content }) =>
      !Array.isArray(content) ||
      content.every((part) => (part as { readonly type?: string }).type === 'text'),
  )
