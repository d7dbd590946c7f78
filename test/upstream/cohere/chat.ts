import { countTokens, tokenize } from '../openai/tokens.ts'
import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import type { Answer } from '../wire.ts'
import { headers } from './failure.ts'
import { type ChatBody, chatBody } from './schema.ts'

interface Turn {
  readonly thinking: readonly string[]
  readonly plan: readonly string[]
  readonly texts: readonly string[]
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
}

/** POST /v2/chat. */
export function chat(request: RecordedRequest, script: Script): Answer {
  const { data } = chatBody.safeParse(request.body)
  const turn = turnOf(script, data)
  const finish_reason = script.finishReason ?? (turn.calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE')
  const id = `c14c80c3-18eb-4519-9460-${String(request.ordinal).padStart(12, '0')}`
  const usage = usageOf(script, request, turn)
  if (data?.stream) {
    const frames = script.chunks ?? events(turn, id, finish_reason, usage).map(frame)
    return { status: 200, headers: headers('text/event-stream'), stream: true, frames }
  }
  const { thinking, plan, texts, calls } = turn
  const content = [
    ...(thinking.length > 0 ? [{ type: 'thinking', thinking: thinking.join('') }] : []),
    ...(texts.length > 0 ? [{ type: 'text', text: texts.join('') }] : []),
  ]
  const made = {
    id,
    finish_reason,
    message: {
      role: 'assistant',
      ...(content.length > 0 && { content }),
      ...(plan.length > 0 && { tool_plan: plan.join('') }),
      ...(calls.length > 0 && { tool_calls: calls.map(toolCall) }),
    },
    ...(usage && { usage }),
  }
  const body = script.body === undefined ? made : script.body
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { status: 200, headers: headers('application/json'), stream: false, frames: [text] }
}

/** With tools, what is said before the calls is the plan. */
function turnOf(script: Script, body: ChatBody | undefined): Turn {
  const calls = (script.toolCalls ?? []).map((call, i) => ({
    id: call.id ?? `${call.name}_${i}tk2rz`,
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
  }))
  const said = script.content ?? (calls.length > 0 ? [] : `You said: ${lastText(body)}`)
  const texts = typeof said === 'string' ? tokenize(said) : said
  const thinking = tokenize(script.reasoning ?? '')
  return calls.length > 0 ? { thinking, plan: texts, texts: [], calls } : { thinking, plan: [], texts, calls }
}

function lastText(body: ChatBody | undefined): string {
  const content = body?.messages.findLast(({ role }) => role === 'user')?.content ?? ''
  if (typeof content === 'string') return content
  return content.map((block) => ('text' in block ? block.text : '')).join('')
}

const toolCall = ({ id, name, arguments: json }: Turn['calls'][number]) => ({
  id,
  type: 'function',
  function: { name, arguments: json },
})

function events(turn: Turn, id: string, finish_reason: string, usage: unknown): object[] {
  const started = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }
  const blocks = [
    { kind: 'thinking', pieces: turn.thinking },
    { kind: 'text', pieces: turn.texts },
  ].filter(({ pieces }) => pieces.length > 0)
  const delta = (message: object) => ({ delta: { message } })
  return [
    { id, type: 'message-start', ...delta(started) },
    ...turn.plan.map((piece) => ({ type: 'tool-plan-delta', ...delta({ tool_plan: piece }) })),
    ...blocks.flatMap(({ kind, pieces }, index) => [
      { type: 'content-start', index, ...delta({ content: { type: kind, [kind]: '' } }) },
      ...pieces.map((piece) => ({ type: 'content-delta', index, ...delta({ content: { [kind]: piece } }) })),
      { type: 'content-end', index },
    ]),
    ...turn.calls.flatMap((call, index) => [
      { type: 'tool-call-start', index, ...delta({ tool_calls: toolCall({ ...call, arguments: '' }) }) },
      ...tokenize(call.arguments).map((piece) => ({
        type: 'tool-call-delta',
        index,
        ...delta({ tool_calls: { function: { arguments: piece } } }),
      })),
      { type: 'tool-call-end', index },
    ]),
    { type: 'message-end', delta: { finish_reason, ...(usage ? { usage } : {}) } },
  ]
}

const frame = (event: object): string =>
  `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`

function usageOf(script: Script, request: RecordedRequest, turn: Turn): object | null {
  if (script.usage !== undefined) return script.usage
  const input = countTokens(request.rawBody)
  const output = turn.texts.length + turn.plan.length + turn.thinking.length + countTokens(turn.calls)
  return {
    billed_units: { input_tokens: input, output_tokens: output },
    tokens: { input_tokens: input + 60, output_tokens: output + 2 },
  }
}
