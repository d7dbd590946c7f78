import { anthropic } from '../anthropic/index.ts'
import { failure } from '../gemini/failure.ts'
import { gemini } from '../gemini/index.ts'
import { generateBody } from '../gemini/schema.ts'
import { countTokens } from '../openai/tokens.ts'
import type { RecordedRequest } from '../record.ts'
import type { Answer, Rules, Wire } from '../wire.ts'
import { embedded, embeddingError, plain, predicted } from './embed.ts'

export { grantFault, type Known } from './grant.ts'

const form =
  /^\/v1(?:\/projects\/([\w-]+)\/locations\/([a-z0-9-]+))?\/publishers\/(google|anthropic)\/models\/([\w.@-]+):(\w+)$/

interface At {
  readonly project: string | undefined
  readonly maker: 'google' | 'anthropic'
  readonly model: string
  readonly method: string
}

/** What is counted stands in the request itself; fields that are no part of a prompt are not let in. */
const countBody = generateBody
  .pick({ contents: true, systemInstruction: true, tools: true, generationConfig: true })
  .strict()

/**
 * The dialect of Vertex AI: Gemini below a project's path, and Claude by raw predictions. A token must be one of
 * `issued`, or of the upstream's keys; API keys stand in the header of Google's own.
 */
export function vertexWith(issued: ReadonlySet<string> = new Set()): Wire {
  return {
    name: 'vertex',
    basePath: '/v1',

    serves: ({ path }) => form.test(path),

    refuse(request, rules) {
      const at = atOf(request)
      if (!at || request.method !== 'POST') return failure(request, 404)
      return (
        unauthorized(request, at, rules, issued) ??
        (at.maker === 'google' ? geminiRefusal(request, at, rules) : claudeRefusal(request, at, rules))
      )
    },

    respond(request, script, rules) {
      const at = atOf(request)!
      if (at.method === 'countTokens') {
        const totalTokens = countTokens(request.rawBody)
        return plain(script.body ?? { totalTokens, totalBillableCharacters: request.rawBody.length })
      }
      if (at.method === 'predict') return predicted(request, script)
      if (at.method === 'embedContent') return embedded(request, script)
      return at.maker === 'google'
        ? gemini.respond(asGemini(request, at), script, rules)
        : anthropic.respond(asClaude(request, at), script, rules)
    },

    fail(request, script, status) {
      const at = atOf(request)!
      return at.maker === 'google'
        ? gemini.fail(asGemini(request, at), script, status)
        : anthropic.fail(asClaude(request, at), script, status)
    },
  }
}

/** With the keys of the upstream only. */
export const vertex = vertexWith()

function atOf({ path }: RecordedRequest): At | undefined {
  const [, project, , maker, model, method] = form.exec(path) ?? []
  if (maker === undefined || model === undefined || method === undefined) return undefined
  return { project, maker: maker as At['maker'], model, method }
}

function unauthorized(
  request: RecordedRequest,
  { project }: At,
  { keys }: Rules,
  issued: ReadonlySet<string>,
): Answer | undefined {
  const { authorization, 'x-goog-api-key': apiKey, 'x-api-key': other } = request.headers
  if (other !== undefined) return failure(request, 400, { message: 'x-api-key is not of this service' })
  if (authorization === undefined) return keys.includes(String(apiKey)) ? undefined : failure(request, 401)
  if (apiKey !== undefined) return failure(request, 400, { message: 'one credential is enough' })
  if (project === undefined) return failure(request, 404, { message: 'a token is of a project' })
  return issued.has(request.key!) || keys.includes(request.key!) ? undefined : failure(request, 401)
}

function geminiRefusal(request: RecordedRequest, at: At, rules: Rules): Answer | undefined {
  if (at.method === 'countTokens') {
    return countBody.safeParse(request.body).success ? undefined : failure(request, 400)
  }
  if (at.method === 'predict' || at.method === 'embedContent') {
    const message = embeddingError(at.model, at.method, request.body)
    return message === undefined ? undefined : failure(request, 400, { message })
  }
  // The stable version of the API has no such field.
  if (/"function(?:Call|Response)":\{"id"/.test(request.rawBody)) {
    return failure(request, 400, { message: 'Unknown name "id": Cannot find field.' })
  }
  return gemini.refuse(asGemini(request, at), { ...rules, keys: [] })
}

function claudeRefusal(request: RecordedRequest, at: At, rules: Rules): Answer | undefined {
  const { anthropic_version: version, model, stream } = (request.body ?? {}) as Record<string, unknown>
  const counts = at.model === 'count-tokens'
  const problem =
    version !== 'vertex-2023-10-16'
      ? 'anthropic_version: Field required'
      : counts !== (model !== undefined)
        ? 'model: Extra inputs are not permitted'
        : at.method !== (stream ? 'streamRawPredict' : 'rawPredict')
          ? `${at.method} is not for it`
          : undefined
  if (problem !== undefined)
    return anthropic.fail(asClaude(request, at), { error: { message: problem } }, 400)
  return anthropic.refuse(asClaude(request, at), { ...rules, keys: [] })
}

/** The request as the Gemini API would have got it. */
const asGemini = (request: RecordedRequest, { model, method }: At): RecordedRequest => ({
  ...request,
  path: `/v1beta/models/${model}:${method}`,
})

/** The request as Anthropic would have got it. */
function asClaude(request: RecordedRequest, { model }: At): RecordedRequest {
  const { anthropic_version: _, ...body } = (request.body ?? {}) as Record<string, unknown>
  const counts = model === 'count-tokens'
  return {
    ...request,
    path: counts ? '/v1/messages/count_tokens' : '/v1/messages',
    headers: { ...request.headers, 'anthropic-version': '2023-06-01' },
    body: counts ? body : { ...body, model },
  }
}
