import { openai } from '../openai/index.ts'
import type { RecordedRequest } from '../record.ts'
import type { Answer, Rules, Wire } from '../wire.ts'
import { orderError } from './conversation.ts'
import { chatBody } from './schema.ts'

const isChat = ({ path }: RecordedRequest): boolean => path === '/v1/chat/completions'

/** The dialect of Mistral: nearly that of OpenAI, with an order of messages, thoughts in the content, and no options. */
export const mistral: Wire = {
  name: 'mistral',
  basePath: '/v1',

  serves: isChat,

  refuse(request, rules) {
    const { error } = { error: openai.refuse(request, { ...rules, strict: false }) }
    return error ?? (rules.strict ? bodyRefusal(request, rules) : undefined)
  },

  respond(request, script, rules) {
    const body = { ...(request.body as object), stream_options: { include_usage: true } }
    const answer = openai.respond({ ...request, body }, script, rules)
    if (script.body !== undefined || script.chunks !== undefined) return answer
    return { ...answer, frames: answer.stream ? events(answer.frames) : answer.frames.map(whole) }
  },

  fail: (_, script, status) => failure(status, script.error?.message ?? 'Service unavailable.', 'error'),
}

function bodyRefusal({ body }: RecordedRequest, _: Rules): Answer | undefined {
  const { data, error } = chatBody.safeParse(body)
  const [issue] = error?.issues ?? []
  if (issue) {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys : []
    const loc = ['body', ...issue.path, ...unknown]
    return failure(422, { detail: [{ type: issue.code, loc, msg: issue.message }] }, 'invalid_request_error')
  }
  const message = orderError(data!)
  return message === undefined ? undefined : failure(400, message, 'invalid_request_message_order')
}

function failure(status: number, message: unknown, type: string): Answer {
  const body = { object: 'error', message, type, param: null, code: '3230' }
  const headers = { 'content-type': 'application/json' }
  return { status, headers, stream: false, frames: [JSON.stringify(body)] }
}

interface Said {
  readonly reasoning_content?: string
  readonly content?: unknown
  readonly [field: string]: unknown
}

/** Thoughts are parts of the content. */
function inContent({ reasoning_content: thoughts, refusal: _, annotations: __, ...said }: Said): Said {
  if (thoughts === undefined) return said
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: thoughts }] }
  const text = said.content ? [{ type: 'text', text: said.content }] : []
  return { ...said, content: [thinking, ...text] }
}

interface Body {
  readonly choices: readonly { readonly message?: Said; readonly delta?: Said }[]
  readonly usage?: unknown
  readonly [field: string]: unknown
}

function translated({ obfuscation: _, service_tier: __, system_fingerprint: ___, ...body }: Body): Body {
  const choices = body.choices.map(({ message, delta, ...choice }) => ({
    ...choice,
    ...(message && { message: inContent(message) }),
    ...(delta && { delta: inContent(delta) }),
  }))
  return { ...body, choices }
}

const whole = (frame: string | Uint8Array): string =>
  JSON.stringify(translated(JSON.parse(String(frame)) as Body))

/** Usage comes with the last chunk that has a choice. */
function events(frames: Answer['frames']): string[] {
  const bodies = frames.flatMap((frame) => {
    const data = String(frame).slice('data: '.length).trim()
    return data === '[DONE]' ? [] : [translated(JSON.parse(data) as Body)]
  })
  const usage = bodies.find((body) => body.usage)?.usage
  const chunks = bodies.filter(({ choices }) => choices.length > 0).map(({ usage: _, ...chunk }) => chunk)
  return [
    ...chunks.map((chunk, i) => {
      const last = i === chunks.length - 1 && usage ? { ...chunk, usage } : chunk
      return `data: ${JSON.stringify(last)}\n\n`
    }),
    'data: [DONE]\n\n',
  ]
}
