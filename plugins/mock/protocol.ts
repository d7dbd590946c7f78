import { hash } from 'node:crypto'
import {
  type Call,
  type Completion,
  fromWireUsage,
  internalError,
  type ModelRequest,
  type Protocol,
  WholeReply,
  type WireUsage,
} from '#kernel'
import { estimateTokens, replyWith, requestTexts } from '#kit'
import { wantedOf } from './wanted.ts'

/**
 * Answers every call with an echo of its last text, or with what the request insists on: deterministic, with usage,
 * streamed when asked.
 */
export const mockProtocol: Protocol = {
  id: 'mock',
  wires: { chat: 'chat', completion: 'completions', embedding: 'embeddings' },

  structuredOutput: () => 'native',

  async answer(call, { model }) {
    const body = answerOf(call, model)
    return call.operation === 'embedding' ? WholeReply.of(body) : replyWith(call, body)
  },

  usage: (reported) => fromWireUsage(reported as WireUsage),

  encode: unreachable,
  decode: unreachable,
  decoder: unreachable,
  error: unreachable,
  check: unreachable,
}

function unreachable(): never {
  throw internalError('The mock provider sends no requests.')
}

function answerOf(call: Call, model: string): Completion {
  const { request } = call
  const prompt = requestTexts(request).map(({ text }) => text)
  const promptTokens = prompt.reduce((sum, text) => sum + estimateTokens(text), 0)
  const created = Math.floor(Date.now() / 1000)
  if (call.operation === 'embedding') return embeddings(request, model, promptTokens)
  const text = `Mock answer to: ${prompt.at(-1) ?? ''}`
  const indexes = [...Array(request.n ?? 1).keys()]
  const usage = usageOf(promptTokens, estimateTokens(text) * indexes.length)
  if (call.operation === 'completion') {
    const choices = indexes.map((index) => ({ index, text, finish_reason: 'stop' as const, logprobs: null }))
    return { id: `cmpl-${call.id}`, object: 'text_completion', created, model, choices, usage }
  }
  const choices = indexes.map((index) => {
    const { message, finish_reason } = wantedOf(request, index === 0 ? call.id : `${call.id}_${index}`, text)
    return { index, message, logprobs: null, finish_reason }
  })
  return { id: `chatcmpl-${call.id}`, object: 'chat.completion', created, model, choices, usage }
}

const usageOf = (prompt: number, completion: number): WireUsage => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
})

function embeddings(request: ModelRequest, model: string, tokens: number): Completion {
  const inputs =
    Array.isArray(request.input) && typeof request.input[0] !== 'number' ? request.input : [request.input]
  const dimensions = typeof request.dimensions === 'number' ? request.dimensions : 256
  const data = inputs.map((input, index) => {
    const vector = vectorOf(JSON.stringify(input), dimensions)
    const embedding = request.encoding_format === 'base64' ? base64(vector) : vector
    return { object: 'embedding', index, embedding }
  })
  return { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } }
}

/** A unit vector that depends on the text alone. */
function vectorOf(text: string, dimensions: number): number[] {
  const bytes = Buffer.concat(
    Array.from({ length: Math.ceil(dimensions / 32) }, (_, i) =>
      Buffer.from(hash('sha256', `${i} ${text}`, 'hex'), 'hex'),
    ),
  )
  const raw = Array.from({ length: dimensions }, (_, i) => bytes[i]! / 127.5 - 1)
  const length = Math.hypot(...raw) || 1
  return raw.map((value) => value / length)
}

function base64(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64')
}
