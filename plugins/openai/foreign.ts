import { hash } from 'node:crypto'
import { badRequest, type ContentPart, type Message, type ModelRequest, type Tool } from '#kernel'
import { compileGlobs, isStrictSchema } from '#kit'
import { isSpare, mergedDetails, quoted, type ReasoningDetail } from '#provider'

type Fields = Readonly<Record<string, unknown>>
type Report = (change: string) => void

/** Parameters that only one other wire has. */
const dropped = [
  'cache_control',
  'container',
  'context_management',
  'diagnostics',
  'inference_geo',
  'mcp_servers',
  'metadata',
  'output_config',
  'service_tier',
  'speed',
  'thinking',
  'top_k',
]

/** The fields that a provider takes and others do not. */
export interface Takes {
  /** Models that take an effort of thinking, as globs. */
  readonly effort: readonly string[]
  /** Whether the model is given its thoughts back. */
  readonly thoughts: boolean
}

/**
 * A request of Anthropic's wire, or of Google's, as this protocol can carry it: without marks that only Claude understands, and
 * with contents in the places where they are taken here. Lost fields are reported; a request that needs them is refused.
 */
export function withoutForeign(request: ModelRequest, takes: Takes, report: Report): ModelRequest {
  const carried: Record<string, unknown> = {
    ...request,
    ...thinkingOf(request, takes.effort, report),
    ...userOf(request, report),
    ...formatOf(request, report),
  }
  // Its schema is in `response_format` too.
  delete carried.output_format
  for (const field of dropped) {
    if (carried[field] === undefined) continue
    delete carried[field]
    if (field !== 'thinking' || carried.reasoning_effort === undefined) report(`-${field}`)
  }
  const tools = toolsOf(request.tools ?? [], report)
  if (tools.length > 0) carried.tools = tools
  else for (const field of ['tools', 'tool_choice', 'parallel_tool_calls']) delete carried[field]
  carried.messages = messagesOf(request.messages ?? [], takes.thoughts, report)
  return carried as unknown as ModelRequest
}

/** Claude is always held to its schema; here that can be asked for of some schemas only, and is refused for others. */
function formatOf({ response_format: format }: ModelRequest, report: Report): Fields {
  const { schema, strict, ...asked } = format?.json_schema ?? {}
  if (!strict || !schema || isStrictSchema(schema)) return {}
  report('-response_format.strict')
  return { response_format: { ...format, json_schema: { ...asked, schema } } }
}

/** The effort for models that think; others refuse the field. */
function thinkingOf(
  { model, thinking, output_config }: ModelRequest,
  takesEffort: readonly string[],
  report: Report,
): Fields {
  const { type, budget_tokens: budget = 8192 } = (thinking ?? {}) as { type?: string; budget_tokens?: number }
  if (type !== 'enabled' && type !== 'adaptive') return {}
  const named = compileGlobs(takesEffort)
  const thinks = named(model) || named(model.slice(model.indexOf('/') + 1))
  if (!thinks && !/^(.*\/)?(o\d|gpt-5)/.test(model)) return {}
  report('thinking->reasoning_effort')
  const { effort } = (output_config ?? {}) as { effort?: string }
  const known = effort === 'max' ? 'high' : effort
  return { reasoning_effort: known ?? (budget < 4096 ? 'low' : budget < 16_384 ? 'medium' : 'high') }
}

/** Longer names of users than this are refused here; Anthropic takes four times as much, and its clients use it. */
const longestUser = 64

/** Stands for a user name that is too long: the same at every turn, and different for each user. */
function userOf({ user }: ModelRequest, report: Report): Fields {
  if (typeof user !== 'string' || user.length <= longestUser) return {}
  report('user->sha256')
  return { user: hash('sha256', user) }
}

function toolsOf(tools: readonly Tool[], report: Report): Tool[] {
  return tools.flatMap((tool, i) => {
    const { type, function: fn, ...own } = tool
    if (!fn) {
      if (!isSpare(tool, tools)) {
        const param = `tools.${i}.type`
        throw badRequest(`${param}: This provider does not support tools of the type ${type}.`, { param })
      }
      report(`-tools.${type}`)
      return []
    }
    for (const field of Object.keys(own)) report(`-tools.${field}`)
    return [{ type, function: fn }]
  })
}

/** Only users can show pictures here: what a tool's result shows follows in a message of the user. */
function messagesOf(messages: readonly Message[], takesThoughts: boolean, report: Report): Message[] {
  const carried: Message[] = []
  let shown: ContentPart[] = []
  const show = (): void => {
    if (shown.length > 0) carried.push({ role: 'user', content: shown })
    shown = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') show()
    const parts = partsOf(message, report)
    if (message.role === 'tool') {
      const { tool_call_id } = message
      if (message.is_error) report('-messages.is_error')
      carried.push({ role: 'tool', tool_call_id: tool_call_id!, content: textOf(parts) })
      shown.push(...parts.filter(({ type }) => type !== 'text'))
    } else if (message.role === 'assistant') carried.push(assistantOf(message, parts, takesThoughts, report))
    else carried.push({ ...message, content: contentOf(parts) })
  }
  show()
  return carried
}

function assistantOf(
  { tool_calls, reasoning_details, extra_content }: Message,
  parts: ContentPart[],
  takesThoughts: boolean,
  report: Report,
): Message {
  const details = mergedDetails(reasoning_details)
  const isOwn = ({ signature, data }: ReasoningDetail): boolean => takesThoughts && !signature && !data
  const thoughts = details
    .filter(isOwn)
    .map(({ text }) => text ?? '')
    .join('\n\n')
  if (!details.every(isOwn)) report('-messages.reasoning_details')
  if (extra_content !== undefined) report('-messages.extra_content')
  if (tool_calls?.some((call) => Object.hasOwn(call, 'extra_content')))
    report('-messages.tool_calls.extra_content')
  const content = textOf(parts)
  const calls = tool_calls?.map(({ id, type, function: fn }) => ({ id, type, function: fn }))
  return {
    role: 'assistant',
    content: content === '' && calls ? null : content,
    ...(thoughts !== '' && { reasoning_content: thoughts }),
    ...(calls && { tool_calls: calls }),
  }
}

const textOf = (parts: readonly ContentPart[]): string =>
  parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n\n')

const contentOf = (parts: readonly ContentPart[]): string | readonly ContentPart[] =>
  parts.every(({ type }) => type === 'text') ? textOf(parts) : parts

function partsOf(message: Message, report: Report): ContentPart[] {
  const content = quoted(message.content, report) ?? []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content.flatMap((part) => partOf(part, report))
}

function partOf(part: ContentPart, report: Report): ContentPart[] {
  const { type, text, image_url, file } = part as ContentPart & Fields
  switch (type) {
    case 'text':
      return [{ type, text: text as string }]
    case 'image_url':
      return [{ type, image_url }]
    case 'file':
      return [{ type, file }]
    case 'input_audio':
    case 'video_url':
      return [{ type, [type]: (part as Fields)[type] }]
    case 'document':
      throw badRequest('This provider cannot take a document by reference; send the document itself.')
    case 'image':
      throw badRequest('This provider cannot take an image by its file id; send the image itself.')
    default:
      report(`-messages.${typeof type === 'string' ? type : 'content'}`)
      return []
  }
}
