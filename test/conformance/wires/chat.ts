import OpenAI from 'openai'
import { features } from '../features/index.ts'
import type { Answer, AnsweredCall, Ask, ClientWire, Turn, WireClient } from './client.ts'
import { problemOf } from './openai.ts'

type Message = OpenAI.ChatCompletionMessage & {
  readonly reasoning_content?: string
  readonly reasoning?: string
  readonly reasoning_details?: unknown
}
type Delta = OpenAI.ChatCompletionChunk.Choice.Delta & Pick<Message, 'reasoning_content' | 'reasoning'>

export const chat: ClientWire = {
  id: 'chat',
  path: '/v1/chat/completions',
  operation: 'chat',
  features: Object.keys(features),
  connect: (url, key) => new ChatClient(url, key),
}

class ChatClient implements WireClient {
  readonly problemOf = problemOf
  readonly #client: OpenAI

  constructor(url: string, apiKey: string) {
    this.#client = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
  }

  ask(ask: Ask): Promise<Answer> {
    return ask.stream ? this.#streamed(ask) : this.#plain(ask)
  }

  async #plain(ask: Ask): Promise<Answer> {
    const { data, response } = await this.#client.chat.completions
      .create(bodyOf(ask) as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming, optionsOf(ask))
      .withResponse()
    const { message, finish_reason } = data.choices[0]!
    return answerOf(message as Message, finish_reason, data.usage, 0, response.headers)
  }

  async #streamed(ask: Ask): Promise<Answer> {
    const body = { ...bodyOf(ask), stream: true, stream_options: { include_usage: true } }
    const { data, response } = await this.#client.chat.completions
      .create(body as unknown as OpenAI.ChatCompletionCreateParamsStreaming, optionsOf(ask))
      .withResponse()
    const message: Record<string, unknown> = { role: 'assistant', content: null }
    let finish = ''
    let usage: OpenAI.CompletionUsage | undefined
    let pieces = 0
    for await (const chunk of data) {
      usage = chunk.usage ?? usage
      for (const { delta, finish_reason } of chunk.choices) {
        add(message, delta as Delta)
        if (delta.content) pieces += 1
        finish = finish_reason ?? finish
      }
      ask.onPiece?.()
    }
    return answerOf(message as unknown as Message, finish, usage, pieces, response.headers)
  }
}

const optionsOf = ({ signal }: Ask) => (signal ? { signal } : {})

/** Texts grow, items of lists grow by their index; anything else is what it was said to be. */
function add(into: Record<string, unknown>, delta: object): void {
  for (const [field, value] of Object.entries(delta)) {
    const before = into[field]
    if (value === null || value === undefined) continue
    if (typeof value === 'string' && typeof before === 'string' && growing.has(field))
      into[field] = before + value
    else if (Array.isArray(value)) into[field] = merged((before as Item[] | undefined) ?? [], value as Item[])
    else if (typeof value === 'object' && typeof before === 'object' && before !== null)
      add(before as Item, value)
    else into[field] = value
  }
}

const growing = new Set(['content', 'reasoning_content', 'reasoning', 'refusal', 'arguments', 'text'])

type Item = Record<string, unknown>

function merged(items: Item[], more: readonly Item[]): Item[] {
  for (const item of more) {
    const known = items.find(
      ({ index, type }) => index !== undefined && index === item.index && type === item.type,
    )
    const begun = items.find(
      ({ index }) => index !== undefined && index === item.index && item.type === undefined,
    )
    const into = known ?? begun
    if (into) add(into, item)
    else items.push(structuredClone(item))
  }
  return items
}

const stops: Readonly<Record<string, string>> = { tool_calls: 'tools', content_filter: 'refusal' }

function answerOf(
  message: Message,
  finish: string,
  usage: OpenAI.CompletionUsage | undefined,
  pieces: number,
  headers: Headers,
): Answer {
  return {
    text: message.content ?? '',
    reasoning: message.reasoning_content ?? message.reasoning ?? '',
    calls: (message.tool_calls ?? []).flatMap(callOf),
    stop: message.refusal ? 'refusal' : (stops[finish] ?? finish),
    usage: {
      input: usage?.prompt_tokens ?? 0,
      output: usage?.completion_tokens ?? 0,
      cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
      reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
    },
    pieces,
    headers,
    native: withoutPlaces(message),
  }
}

/** Which call of the answer a piece was of is no part of the message. */
const withoutPlaces = ({ tool_calls, ...message }: Message): object => ({
  ...message,
  ...(tool_calls && {
    tool_calls: tool_calls.map(({ index: _, ...call }: { index?: number } & object) => call),
  }),
})

const callOf = (call: OpenAI.ChatCompletionMessageToolCall): AnsweredCall[] =>
  call.type === 'function'
    ? [{ id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) as unknown }]
    : []

function bodyOf({ model, turns, tools, choice, effort, schema }: Ask): object {
  return {
    model,
    messages: turns.flatMap(messagesOf),
    ...(tools && { tools: tools.map((fn) => ({ type: 'function', function: fn })) }),
    ...(choice && { tool_choice: { type: 'function', function: { name: choice } } }),
    ...(effort && { reasoning_effort: effort }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'verdict', schema } } }),
  }
}

function messagesOf(turn: Turn): object[] {
  if ('answer' in turn) return [turn.answer.native as object]
  if ('results' in turn) {
    return turn.results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }))
  }
  if (turn.image === undefined) return [{ role: 'user', content: turn.text }]
  const url = `data:image/png;base64,${turn.image}`
  const parts = [
    { type: 'text', text: turn.text },
    { type: 'image_url', image_url: { url } },
  ]
  return [{ role: 'user', content: parts }]
}
