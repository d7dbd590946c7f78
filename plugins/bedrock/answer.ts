import { type Call, type Message, type Target, type ToolCall, type UpstreamHead, WholeReply } from '#kernel'
import { argumentsText, jsonObject, protocolError } from '#provider'
import { finishOf } from './finish.ts'
import { type Plan, planOf } from './plan.ts'
import { detailOf } from './reasoning.ts'
import { isSound } from './sound.ts'
import { wireUsage } from './usage.ts'
import type { Block, ConverseAnswer } from './wire.ts'

/** A whole answer in the canonical form. */
export function answerOf(head: UpstreamHead, body: Buffer, call: Call, target: Target): WholeReply {
  const native: ConverseAnswer = jsonObject(body, target)
  if (!isSound(native)) {
    throw protocolError(target, 'answered with something that is not a message', { retryable: true })
  }
  const { content } = native.output!.message!
  const plan = planOf(call, target)
  return WholeReply.of({
    id: idOf(head, call),
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: target.model,
    choices: [
      { index: 0, message: messageOf(content!, plan), ...finishOf(native, plan.schemaAsTool, target) },
    ],
    ...(native.usage && { usage: wireUsage(native.usage) }),
  })
}

/** The service names its answers in a header only. */
export const idOf = ({ headers }: UpstreamHead, call: Call): string =>
  `chatcmpl-${headers['x-amzn-requestid'] ?? call.id}`

function messageOf(content: readonly Block[], plan: Plan): Message {
  const { schemaAsTool, facts } = plan
  const texts: string[] = []
  const given: string[] = []
  const thoughts: string[] = []
  const details: unknown[] = []
  const calls: ToolCall[] = []
  const annotations: unknown[] = []
  for (const [index, block] of content.entries()) {
    if (block.reasoningContent) {
      const detail = detailOf(block.reasoningContent, index, facts.maker)
      details.push(detail)
      if (detail.text) thoughts.push(detail.text)
    } else if (block.toolUse) {
      const { toolUseId, name, input } = block.toolUse
      const json = argumentsText(input)
      if (schemaAsTool) given.push(json)
      else
        calls.push({
          id: toolUseId,
          type: 'function',
          function: { name: name, arguments: json },
        })
    } else if (block.citationsContent) {
      const { content: cited = [], citations = [] } = block.citationsContent
      texts.push(...cited.map(({ text = '' }) => text))
      annotations.push(...citations)
    } else if (block.text !== undefined) texts.push(block.text)
  }
  // Words instead of the tool's call are the answer of a model that declines.
  const said = given.length > 0 ? given : texts
  return {
    role: 'assistant',
    content: said.length > 0 ? said.join('') : null,
    refusal: null,
    ...(details.length > 0 && { reasoning_details: details }),
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join('') }),
    ...(annotations.length > 0 && { annotations }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

interface ModelSummary {
  readonly modelId?: unknown
  readonly outputModalities?: readonly unknown[]
  readonly inferenceTypesSupported?: readonly unknown[]
}

/** The ids in a list of models: of those that write or embed, and that can be asked for by these ids. */
export function modelsIn(body: Buffer): string[] | undefined {
  const { modelSummaries } = JSON.parse(body.toString('utf8')) as {
    modelSummaries?: readonly ModelSummary[]
  }
  return modelSummaries?.flatMap(({ modelId, outputModalities: out, inferenceTypesSupported: by }) => {
    const isCallable =
      (!out || out.includes('TEXT') || out.includes('EMBEDDING')) && (!by || by.includes('ON_DEMAND'))
    return typeof modelId === 'string' && isCallable ? [modelId] : []
  })
}
