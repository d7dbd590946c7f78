import type { RecordedRequest } from '../record.ts'
import type { Answer, Rules, Wire } from '../wire.ts'
import { chat } from './chat.ts'
import { embed } from './embed.ts'
import { failure, headers } from './failure.ts'
import { type ChatBody, chatBody, embedBody, tokenizeBody } from './schema.ts'
import { tokenize } from './tokenize.ts'

const listed = ['command-a-03-2025', 'command-a-reasoning-08-2025', 'embed-v4.0']

const endpoints = {
  '/v2/chat': { body: chatBody, respond: chat },
  '/v2/embed': { body: embedBody, respond: embed },
  '/v1/tokenize': { body: tokenizeBody, respond: tokenize },
} as const

/** The dialect of Cohere, version 2: chat, embeddings, tokens and models. */
export const cohere: Wire = {
  name: 'cohere',
  basePath: '',

  serves: (request) => endpointOf(request) !== undefined || isModels(request),

  refuse(request, rules) {
    const endpoint = endpointOf(request)
    if (!endpoint && !isModels(request)) return failure(404, { message: 'page not found' })
    return unauthorized(request, rules) ?? (endpoint && bodyRefusal(request, endpoint.body, rules))
  },

  respond(request, script, rules) {
    const endpoint = endpointOf(request)
    return endpoint ? endpoint.respond(request, script) : models(rules)
  },

  fail: (_, script, status) => failure(status, script.error),
}

const endpointOf = ({ path }: RecordedRequest) =>
  Object.entries(endpoints).find(([name]) => name === path)?.[1]

const isModels = ({ path }: RecordedRequest): boolean => path === '/v1/models'

function unauthorized(request: RecordedRequest, { keys }: Rules): Answer | undefined {
  const bearer = request.headers.authorization !== undefined && request.key
  return keys.length === 0 || (bearer && keys.includes(bearer)) ? undefined : failure(401)
}

function bodyRefusal(
  { body }: RecordedRequest,
  schema: typeof chatBody | typeof embedBody | typeof tokenizeBody,
  { models, strict }: Rules,
): Answer | undefined {
  if (typeof body !== 'object' || body === null) return failure(400, { message: 'invalid json' })
  const { model } = body as { model?: unknown }
  if (models && !models.some((name) => name === model)) return failure(404)
  if (!strict) return undefined
  const { error, data } = schema.safeParse(body)
  const [issue] = error?.issues ?? []
  const message = issue
    ? `invalid request: ${issue.path.join('.')}: ${issue.message}`
    : conversationError(data)
  return message === undefined ? undefined : failure(400, { message })
}

/** Results must be of the calls before them, and calls must have results. */
function conversationError(body: unknown): string | undefined {
  const { messages = [], tools, tool_choice, documents, response_format } = body as Partial<ChatBody>
  if (response_format?.type === 'json_object' && (tools ?? documents)) {
    return 'response_format is not supported with RAG or tools'
  }
  let open: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id)) return `unknown tool_call_id ${message.tool_call_id}`
      open = open.filter((id) => id !== message.tool_call_id)
    } else {
      if (open.length > 0) return `no results for tool calls ${open.join(', ')}`
      open = message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : []
    }
  }
  if (messages.length > 0 && messages.at(-1)?.role === 'assistant')
    return 'the last message must be of the user or a tool'
  return tool_choice && !tools ? 'tool_choice is set without tools' : undefined
}

function models({ models: names = listed }: Rules): Answer {
  const body = { models: names.map((name) => ({ name, endpoints: ['chat'] })) }
  return { status: 200, headers: headers('application/json'), stream: false, frames: [JSON.stringify(body)] }
}
