import OpenAI from 'openai'
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator'
import { features } from '../features/index.ts'
import type { Answer, Ask, ClientWire, Turn, WireClient } from './client.ts'
import { problemOf } from './openai.ts'

/** OpenAI's Responses, as a client that keeps the conversation itself speaks it. */
export const responses: ClientWire = {
  id: 'responses',
  path: '/v1/responses',
  operation: 'chat',
  features: Object.keys(features),
  connect: (url, key) => new ResponsesClient(url, key),
}

type Response = OpenAI.Responses.Response

class ResponsesClient implements WireClient {
  readonly problemOf = problemOf
  readonly #client: OpenAI

  constructor(url: string, apiKey: string) {
    this.#client = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
  }

  async ask(ask: Ask): Promise<Answer> {
    const body = bodyOf(ask)
    const options = ask.signal ? { signal: ask.signal } : {}
    if (!ask.stream) {
      const { data, response } = await this.#client.responses.create(body, options).withResponse()
      return answerOf(data, 0, response.headers)
    }
    const { data, response } = await this.#client.responses
      .create({ ...body, stream: true }, options)
      .withResponse()
    let built: Response | undefined
    let pieces = 0
    for await (const event of data) {
      // The library's own way to put events together refuses those that come in an order that is none.
      built = accumulateResponse(event, built)
      if (event.type === 'response.output_text.delta') pieces += 1
      if (event.type.endsWith('.delta')) ask.onPiece?.()
    }
    return answerOf(built!, pieces, response.headers)
  }
}

const cuts: Readonly<Record<string, string>> = { max_output_tokens: 'length', content_filter: 'refusal' }

function answerOf(
  { output, status, incomplete_details, usage }: Response,
  pieces: number,
  headers: Headers,
): Answer {
  const calls = output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) as unknown }]
      : [],
  )
  const why = incomplete_details?.reason ?? ''
  const cut = cuts[why] ?? why
  const refuses = output.some(
    (item) => item.type === 'message' && item.content.some(({ type }) => type === 'refusal'),
  )
  return {
    text: output.map((item) => (item.type === 'message' ? textOf(item) : '')).join(''),
    reasoning: output
      .flatMap((item) => (item.type === 'reasoning' ? item.summary.map(({ text }) => text) : []))
      .join(''),
    calls,
    stop: status !== 'completed' ? cut : refuses ? 'refusal' : calls.length > 0 ? 'tools' : 'stop',
    usage: {
      input: usage?.input_tokens ?? 0,
      output: usage?.output_tokens ?? 0,
      cached: usage?.input_tokens_details.cached_tokens ?? 0,
      reasoning: usage?.output_tokens_details.reasoning_tokens ?? 0,
    },
    pieces,
    headers,
    native: output,
  }
}

const textOf = ({ content }: OpenAI.Responses.ResponseOutputMessage): string =>
  content.map((part) => (part.type === 'output_text' ? part.text : '')).join('')

function bodyOf({
  model,
  turns,
  tools,
  choice,
  effort,
  schema,
}: Ask): OpenAI.Responses.ResponseCreateParamsNonStreaming {
  return {
    model,
    input: turns.flatMap(itemsOf),
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(tools && { tools: tools.map((fn) => ({ type: 'function' as const, strict: null, ...fn })) }),
    ...(choice && { tool_choice: { type: 'function' as const, name: choice } }),
    ...(effort && { reasoning: { effort, summary: 'auto' as const } }),
    ...(schema && { text: { format: { type: 'json_schema' as const, name: 'verdict', schema } } }),
  }
}

function itemsOf(turn: Turn): OpenAI.Responses.ResponseInputItem[] {
  if ('answer' in turn) return turn.answer.native as OpenAI.Responses.ResponseInputItem[]
  if ('results' in turn) {
    return turn.results.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text }))
  }
  if (turn.image === undefined) return [{ role: 'user', content: turn.text }]
  const url = `data:image/png;base64,${turn.image}`
  return [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: turn.text },
        { type: 'input_image', image_url: url, detail: 'auto' },
      ],
    },
  ]
}
