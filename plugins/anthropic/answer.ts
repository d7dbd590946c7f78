import { type Completion, type Message, type Target, type ToolCall, WholeReply } from '#kernel'
import { argumentsText, jsonObject } from '#provider'
import { annotationOf } from './citations.ts'
import { brokenProtocol, eventError, type NativeError } from './errors.ts'
import { finishOf, type Stop } from './finish.ts'
import type { Block } from './native.ts'
import type { Plan } from './plan.ts'
import { detailOf } from './reasoning.ts'
import { type NativeUsage, wireUsage } from './usage.ts'

interface NativeMessage extends Stop {
  readonly id?: string
  readonly type?: string
  readonly model?: string
  readonly content?: readonly Block[]
  readonly usage?: NativeUsage
  readonly error?: NativeError
}

/** A whole answer in the canonical form; for clients of the same protocol it keeps its bytes. */
export function answerOf(raw: Buffer, plan: Plan, target: Target): WholeReply {
  const native: NativeMessage = jsonObject(raw, target)
  if (native.type === 'error') throw eventError(native.error ?? {}, target)
  if (!Array.isArray(native.content) || !native.content.every(isBlock))
    throw brokenProtocol('answered with something that is not a message', target)
  if (!native.stop_reason) throw brokenProtocol('answered without an end of the answer', target)
  const completion = completionOf(native, plan)
  return plan.native ? WholeReply.fromBytes('messages', raw, completion) : WholeReply.of(completion)
}

/** Whether it is what can be looked into, and says its text where it has one to say. */
function isBlock(block: unknown): block is Block {
  if (typeof block !== 'object' || block === null) return false
  const { type, text } = block as Partial<Block>
  return typeof type === 'string' && (type !== 'text' || typeof text === 'string')
}

function completionOf(native: NativeMessage, plan: Plan): Completion {
  const { id, model, content = [], usage } = native
  return {
    ...(id !== undefined && { id }),
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    ...(model !== undefined && { model }),
    choices: [{ index: 0, message: messageOf(content, plan), ...finishOf(native, plan.schemaAsTool) }],
    ...(usage && { usage: wireUsage(usage) }),
  }
}

function messageOf(content: readonly Block[], { schemaAsTool, fit }: Plan): Message {
  const texts: string[] = []
  const given: string[] = []
  const thoughts: string[] = []
  const details: unknown[] = []
  const calls: ToolCall[] = []
  const vendor: unknown[] = []
  const annotations: unknown[] = []
  for (const [index, block] of content.entries()) {
    const detail = detailOf(block, index)
    if (detail) {
      details.push(detail)
      if (detail.text) thoughts.push(detail.text)
    } else if (block.type === 'text') {
      texts.push(String(block.text ?? ''))
      if (Array.isArray(block.citations)) annotations.push(...block.citations.map(annotationOf))
    } else if (block.type === 'tool_use') {
      if (schemaAsTool) given.push(argumentsText(block.input))
      else calls.push(callOf(block))
    } else vendor.push({ index, ...block })
  }
  // Words instead of the tool's call are the answer of a model that declines.
  const said = given.length > 0 ? given : texts
  return {
    role: 'assistant',
    content: said.length > 0 ? said.join('') : null,
    refusal: null,
    ...(details.length > 0 && fit.thinking === 'show' && { reasoning_details: details }),
    ...(thoughts.length > 0 && fit.thinking === 'show' && { reasoning_content: thoughts.join('') }),
    ...(vendor.length > 0 && { vendor_blocks: vendor }),
    ...(annotations.length > 0 && fit.citations === 'show' && { annotations }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function callOf({ type: _, id, name, input, ...own }: Block): ToolCall {
  return {
    id: String(id),
    type: 'function',
    function: { name: String(name), arguments: argumentsText(input) },
    ...(Object.keys(own).length > 0 && { extra: { anthropic: own } }),
  }
}
