import Anthropic from '@anthropic-ai/sdk'
import { features } from '../features/index.ts'
import type { Answer, Ask, ClientWire, Problem, Turn, WireClient } from './client.ts'

export const messages: ClientWire = {
  id: 'messages',
  path: '/v1/messages',
  operation: 'chat',
  features: Object.keys(features),
  connect: (url, key) => new MessagesClient(url, key),
}

class MessagesClient implements WireClient {
  readonly problemOf = problemOf
  readonly #client: Anthropic

  constructor(baseURL: string, apiKey: string) {
    this.#client = new Anthropic({ baseURL, apiKey, maxRetries: 0 })
  }

  ask(ask: Ask): Promise<Answer> {
    return ask.stream ? this.#streamed(ask) : this.#plain(ask)
  }

  async #plain(ask: Ask): Promise<Answer> {
    const { data, response } = await this.#client.messages
      .create(bodyOf(ask) as unknown as Anthropic.MessageCreateParamsNonStreaming, optionsOf(ask))
      .withResponse()
    return answerOf(data, 0, response.headers)
  }

  /** The library puts the events together, and refuses those that come in an order that is none. */
  async #streamed(ask: Ask): Promise<Answer> {
    const stream = this.#client.messages.stream(
      bodyOf(ask) as unknown as Anthropic.MessageStreamParams,
      optionsOf(ask),
    )
    let pieces = 0
    stream.on('text', () => {
      pieces += 1
    })
    stream.on('streamEvent', ({ type }) => {
      if (type === 'content_block_delta') ask.onPiece?.()
    })
    const message = await stream.finalMessage()
    return answerOf(message, pieces, stream.response!.headers)
  }
}

const optionsOf = ({ signal }: Ask) => (signal ? { signal } : {})

function problemOf(error: unknown): Problem | undefined {
  if (!(error instanceof Anthropic.APIError)) return undefined
  const { type, error: inner } = (error.error ?? {}) as {
    type?: string
    error?: { type?: string; message?: string }
  }
  if (type !== 'error' || inner?.type === undefined) return undefined
  return {
    status: error.status as number | undefined,
    type: inner.type,
    message: inner.message ?? '',
    // The wire has no field for it; the message begins with the name.
    param: /^([\w.[\]]+):/.exec(inner.message ?? '')?.[1],
    headers: error.headers as Headers | undefined,
  }
}

const stops: Readonly<Record<string, string>> = { end_turn: 'stop', max_tokens: 'length', tool_use: 'tools' }

function answerOf(message: Anthropic.Message, pieces: number, headers: Headers): Answer {
  const { content, stop_reason, usage } = message
  const cached = usage.cache_read_input_tokens ?? 0
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    reasoning: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
    ),
    stop: stops[stop_reason ?? ''] ?? String(stop_reason),
    usage: {
      input: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
      output: usage.output_tokens,
      cached,
      reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
    },
    pieces,
    headers,
    native: { role: 'assistant', content },
  }
}

const budgets = { low: 2048, high: 16_384 }

function bodyOf({ model, turns, tools, choice, effort, schema }: Ask): object {
  return {
    model,
    max_tokens: 20_000,
    messages: turns.map(messageOf),
    ...(tools && { tools: tools.map(({ name, parameters }) => ({ name, input_schema: parameters })) }),
    ...(choice && { tool_choice: { type: 'tool', name: choice } }),
    ...(effort && { thinking: { type: 'enabled', budget_tokens: budgets[effort] } }),
    ...(schema && { output_config: { format: { type: 'json_schema', schema } } }),
  }
}

function messageOf(turn: Turn): object {
  if ('answer' in turn) return turn.answer.native as object
  if ('results' in turn) {
    const results = turn.results.map(({ id, text }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: text,
    }))
    return { role: 'user', content: results }
  }
  if (turn.image === undefined) return { role: 'user', content: turn.text }
  const source = { type: 'base64', media_type: 'image/png', data: turn.image }
  return {
    role: 'user',
    content: [
      { type: 'text', text: turn.text },
      { type: 'image', source },
    ],
  }
}
