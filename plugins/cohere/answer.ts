import { type Call, type Target, WholeReply } from '#kernel'
import { argumentsText, jsonObject, protocolError } from '#provider'
import { finishOf, isCut } from './finish.ts'
import { logprobsOf } from './logprobs.ts'
import { canonicalUsage } from './usage.ts'
import type { ChatAnswer, WireToolCall } from './wire.ts'

/** A plain answer in the canonical form. */
export function answerOf(body: Buffer, call: Call, target: Target): WholeReply {
  const { id, message, finish_reason: native, usage, logprobs } = jsonObject(body, target) as ChatAnswer
  if (!native) throw protocolError(target, 'answered without an end of the answer', { retryable: true })
  if (!isMessage(message)) {
    throw protocolError(target, 'answered with something that is not a message', { retryable: true })
  }
  const blocks = message.content ?? []
  const text = blocks.map((block) => block.text ?? '').join('')
  const thoughts = blocks.map((block) => block.thinking ?? '').join('')
  const reasoning = thoughts + (message.tool_plan ?? '')
  const calls = message.tool_calls ?? []
  return WholeReply.of({
    id: `chatcmpl-${id ?? call.id}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: target.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          ...(reasoning !== '' && { reasoning_content: reasoning }),
          ...(calls.length > 0 && { tool_calls: calls.map((call, i) => toolCall(call, i, native)) }),
          ...(message.citations && message.citations.length > 0 && { citations: message.citations }),
        },
        finish_reason: finishOf(native, undefined, target),
        native_finish_reason: native,
        ...(logprobs && { logprobs: logprobsOf(logprobs) }),
      },
    ],
    ...(usage && { usage: canonicalUsage(usage) }),
  })
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const areObjects = (list: unknown): boolean =>
  list === undefined || list === null || (Array.isArray(list) && list.every(isObject))

const isMessage = (message: ChatAnswer['message']): message is NonNullable<ChatAnswer['message']> =>
  isObject(message) && areObjects(message.content) && areObjects(message.tool_calls)

const toolCall = ({ id, function: fn }: WireToolCall, index: number, native: string) => ({
  id: id || `call_${index}`,
  type: 'function' as const,
  function: { name: fn?.name ?? '', arguments: argumentsText(fn?.arguments, { isCut: isCut(native) }) },
})

/** The names in a list of models. */
export function modelsIn(body: Buffer): string[] | undefined {
  const { models } = JSON.parse(body.toString('utf8')) as { models?: readonly { name?: unknown }[] }
  return models?.flatMap(({ name }) => (typeof name === 'string' ? [name] : []))
}
