import type { GenerateContentParameters, GenerateContentResponse, ThinkingLevel } from '@google/genai'
import { ApiError, type Content, FunctionCallingConfigMode, GoogleGenAI, type Part } from '@google/genai'
import { features } from '../features/index.ts'
import type { Answer, Ask, ClientWire, Problem, Turn, WireClient } from './client.ts'

/** Google's, by its own library at the addresses that it asks at. */
export const gemini: ClientWire = {
  id: 'gemini',
  path: '/v1beta/models/{model}:generateContent',
  operation: 'chat',
  features: Object.keys(features),
  connect: (url, key) => new GeminiClient(url, key),
}

class GeminiClient implements WireClient {
  readonly #client: GoogleGenAI
  /** The library shows no headers of errors, nor of streams. */
  #headers = new Headers()
  #streaming = false

  constructor(baseUrl: string, apiKey: string) {
    const seen = async (...asked: Parameters<typeof fetch>): Promise<Response> => {
      const response = await fetch(...asked)
      this.#headers = response.headers
      this.#streaming = response.headers.get('content-type')?.includes('event-stream') === true
      return response
    }
    this.#client = new GoogleGenAI({
      apiKey,
      httpOptions: { baseUrl, apiVersion: 'v1beta', fetch: seen as typeof fetch },
    })
  }

  readonly problemOf = (error: unknown): Problem | undefined => {
    if (!(error instanceof ApiError)) return undefined
    const told = /\{.*\}/s.exec(error.message)
    const { error: inner } = JSON.parse(told?.[0] ?? '{}') as {
      error?: {
        code?: number
        message?: string
        status?: string
        details?: { fieldViolations?: { field?: string }[] }[]
      }
    }
    if (inner?.status === undefined) return undefined
    return {
      status: this.#streaming ? undefined : error.status,
      type: inner.status,
      message: inner.message ?? '',
      param: inner.details?.flatMap(({ fieldViolations = [] }) => fieldViolations)[0]?.field,
      headers: this.#headers,
    }
  }

  async ask(ask: Ask): Promise<Answer> {
    const asked = bodyOf(ask)
    const parts: Part[] = []
    let last: GenerateContentResponse | undefined
    let finish: string | undefined
    let pieces = 0
    const events = ask.stream
      ? await this.#client.models.generateContentStream(asked)
      : [await this.#client.models.generateContent(asked)]
    for await (const event of events) {
      last = { ...last, ...event, text: undefined } as unknown as GenerateContentResponse
      const [candidate, ...others] = event.candidates ?? []
      if (others.length > 0) throw new Error('an event says the same candidate twice')
      finish = candidate?.finishReason ?? event.promptFeedback?.blockReason ?? finish
      const said = candidate?.content?.parts ?? []
      if (said.some(({ text, thought }) => text && !thought)) pieces += 1
      if (said.some(({ text }) => text)) ask.onPiece?.()
      for (const part of said) {
        const before = parts.at(-1)
        if (before && isBare(before) && isBare(part))
          parts[parts.length - 1] = { text: `${before.text}${part.text}` }
        else parts.push(part)
      }
    }
    return answerOf(parts, finish ?? '', last!, ask.stream ? pieces : 0, this.#headers)
  }
}

const isBare = (part: Part): boolean => Object.keys(part).join() === 'text'

const textOf = (parts: readonly Part[], thought: boolean): string =>
  parts.map((part) => (Boolean(part.thought) === thought ? (part.text ?? '') : '')).join('')

const stops: Readonly<Record<string, string>> = { STOP: 'stop', MAX_TOKENS: 'length', '': '' }

function answerOf(
  parts: readonly Part[],
  finish: string,
  { usageMetadata: usage }: GenerateContentResponse,
  pieces: number,
  headers: Headers,
): Answer {
  const calls = parts.flatMap(({ functionCall: call }, i) =>
    // A client without ids of its own goes by the place of a call.
    call ? [{ id: call.id ?? `${call.name} ${i}`, name: call.name!, input: call.args }] : [],
  )
  const thoughts = usage?.thoughtsTokenCount ?? 0
  return {
    text: textOf(parts, false),
    reasoning: textOf(parts, true),
    calls,
    stop: finish === 'STOP' && calls.length > 0 ? 'tools' : (stops[finish] ?? 'refusal'),
    usage: {
      input: usage?.promptTokenCount ?? 0,
      output: (usage?.candidatesTokenCount ?? 0) + thoughts,
      cached: usage?.cachedContentTokenCount ?? 0,
      reasoning: thoughts,
    },
    pieces,
    headers,
    native: { role: 'model', parts },
  }
}

function bodyOf({ model, turns, tools, choice, effort, schema, signal }: Ask): GenerateContentParameters {
  return {
    model,
    contents: contentsOf(turns),
    config: {
      ...(tools && {
        tools: [
          {
            functionDeclarations: tools.map(({ name, parameters }) => ({
              name,
              parametersJsonSchema: parameters,
            })),
          },
        ],
      }),
      ...(choice && {
        toolConfig: {
          functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: [choice] },
        },
      }),
      thinkingConfig: { ...(effort && { thinkingLevel: effort as ThinkingLevel }), includeThoughts: true },
      ...(schema && { responseMimeType: 'application/json', responseJsonSchema: schema }),
      ...(signal && { abortSignal: signal }),
    },
  }
}

/** The results of calls have the calls' ids where these have any, and stand in the calls' order otherwise. */
function contentsOf(turns: readonly Turn[]): Content[] {
  let called: Part[] = []
  return turns.map((turn) => {
    if ('answer' in turn) {
      const content = turn.answer.native as Content
      called = content.parts ?? []
      return content
    }
    if ('results' in turn) {
      const calls = called.flatMap(({ functionCall: call }, i) =>
        call ? [{ call, key: call.id ?? `${call.name} ${i}` }] : [],
      )
      const order = calls.some(({ call }) => call.id) ? turn.results : inOrder(turn.results, calls)
      const parts = order.map(({ id, text }) => {
        const { call } = calls.find(({ key }) => key === id)!
        return {
          functionResponse: { ...(call.id && { id: call.id }), name: call.name!, response: { output: text } },
        }
      })
      return { role: 'user', parts }
    }
    const image = turn.image !== undefined && { inlineData: { mimeType: 'image/png', data: turn.image } }
    return { role: 'user', parts: [{ text: turn.text }, ...(image ? [image] : [])] }
  })
}

function inOrder<R extends { readonly id: string }>(
  results: readonly R[],
  calls: readonly { key: string }[],
): R[] {
  return calls.flatMap(({ key }) => results.filter(({ id }) => id === key))
}
