import { openai } from '../openai/index.ts'
import { chatBody } from '../openai/schema.ts'
import type { RecordedRequest } from '../record.ts'
import type { Answer, Wire } from '../wire.ts'

const path = '/openai/v1/chat/completions'

/** The dialect of Groq: that of OpenAI at another path, with thoughts and usage of streams in places of their own. */
export const groq: Wire = {
  name: 'groq',
  basePath: '/openai/v1',

  serves: (request) => request.path === path,

  refuse(request, rules) {
    const answer = openai.refuse(asOpenai(request), { ...rules, strict: false })
    if (answer || !rules.strict) return answer
    const unknown = unsupported(request.body as Body)
    if (unknown)
      return openai.fail(request, { error: { message: unknown, type: 'invalid_request_error' } }, 400)
    return openai.refuse(asOpenai(request), rules)
  },

  respond(request, script, rules) {
    const asked = asOpenai(request)
    const body = { ...(asked.body as object), stream_options: { include_usage: true } }
    const answer = openai.respond({ ...asked, body }, script, rules)
    if (script.body !== undefined || script.chunks !== undefined) return answer
    return { ...answer, frames: answer.stream ? events(answer.frames) : answer.frames.map(renamed) }
  },

  fail: (request, script, status) => openai.fail(request, script, status),
}

/** As OpenAI would have got it: models that think may be told their thoughts again. */
function asOpenai(request: RecordedRequest): RecordedRequest {
  const body = request.body as Body | undefined
  const messages = body?.messages?.map(({ reasoning: _, ...message }) => message)
  return { ...request, path: '/v1/chat/completions', body: messages ? { ...body, messages } : body }
}

interface Body {
  readonly messages?: readonly { readonly role?: string; readonly [field: string]: unknown }[]
  readonly [field: string]: unknown
}

const known = new Set(['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'function_call', 'reasoning'])

function unsupported({ messages = [], ...body }: Body): string | undefined {
  const format = (body.response_format as { readonly type?: string } | undefined)?.type ?? 'text'
  if (format !== 'text' && Array.isArray(body.tools)) {
    return 'json mode cannot be combined with tool/function calling'
  }
  if (format === 'json_schema' && !String(body.model).includes('gpt-oss')) {
    return 'This model does not support response format `json_schema`.'
  }
  const field = Object.keys(body).find((name) => !(name in chatBody.shape))
  if (field) return `property '${field}' is unsupported`
  for (const [i, message] of messages.entries()) {
    const extra = Object.keys(message).find((name) => !known.has(name))
    if (extra) return `'messages.${i}' : property '${extra}' is unsupported`
  }
  return undefined
}

const renamed = (frame: string | Uint8Array): string =>
  String(frame).replaceAll('"reasoning_content":', '"reasoning":')

/** Usage is in the vendor's own field of the last chunk. */
function events(frames: Answer['frames']): string[] {
  return frames.map((frame) => {
    const text = renamed(frame)
    if (text.includes('[DONE]')) return text
    const { usage, ...chunk } = JSON.parse(text.slice('data: '.length)) as { usage?: unknown }
    return `data: ${JSON.stringify(usage ? { ...chunk, x_groq: { id: 'req_1', usage } } : chunk)}\n\n`
  })
}
