import type { Choice, Completion, Message } from '#kernel'
import { inPlace, mergedDetails, type ReasoningDetail } from '#provider'
import { callProblem, candidateOf, citationsOf } from './candidate.ts'
import {
  type AnswerPart,
  bareThought,
  callPart,
  imageParts,
  listOf,
  signatureOf,
  thoughtPart,
  vendorPart,
} from './parts.ts'
import { nativeUsage } from './usage.ts'

/** The answer as the wire has it; `shows` whether the client asked to see thoughts. */
export function contentOf(body: Completion, shows: boolean): object {
  return {
    candidates: (body.choices ?? []).map((choice) => candidateFor(choice, shows)),
    ...(body.usage && { usageMetadata: nativeUsage(body.usage) }),
    ...headOf(body),
  }
}

/** The fields that all events of an answer share. */
export function headOf({ model, id }: Pick<Completion, 'id' | 'model'>): object {
  const said = (value: unknown): value is string => typeof value === 'string' && value !== ''
  return {
    ...(said(model) && { modelVersion: model }),
    ...(said(id) && { responseId: id.replace(/^chatcmpl-/, '') }),
  }
}

function candidateFor(choice: Choice, shows: boolean): object {
  const message: Message = choice.message ?? { role: 'assistant', content: choice.text ?? '' }
  const calls = (message.tool_calls ?? []).filter(({ function: fn }) => fn)
  const broken = calls.find((call) => !callPart(call))?.function
  const problem = broken && callProblem(broken.name, broken.arguments)
  return {
    ...candidateOf(choice, partsOf(message, shows), { problem, isRefusal: Boolean(message.refusal) }),
    ...citationsOf(message.annotations),
  }
}

/** Thoughts, texts and calls, each where it stood as far as that is known. */
function partsOf(message: Message, shows: boolean): AnswerPart[] {
  const details = listOf<ReasoningDetail>(message.reasoning_details)
  const thoughts = message.reasoning_content ?? message.reasoning
  const bare = details.length === 0 && typeof thoughts === 'string' && thoughts !== ''
  const placed = [
    ...(bare ? [{ index: 0, blocks: bareThought(thoughts, shows) }] : []),
    ...mergedDetails(details).map((detail) => ({
      index: detail.index ?? 0,
      blocks: thoughtPart(detail, shows),
    })),
    ...listOf<{ index?: number }>(message.vendor_blocks).map((block) => ({
      index: block.index ?? 0,
      blocks: [vendorPart(block)],
    })),
  ].filter(({ blocks }) => blocks.length > 0)
  const calls = (message.tool_calls ?? []).flatMap((call): AnswerPart[] => {
    const part = call.function && callPart(call)
    return part ? [part] : []
  })
  return inPlace(placed, [
    ...signed(textsOf(message), signatureOf(message)),
    ...imageParts(message),
    ...calls,
  ])
}

function textsOf({ content, refusal }: Message): AnswerPart[] {
  const texts = typeof content === 'string' ? [content] : (content ?? []).map(({ text }) => text)
  return [...texts, refusal].flatMap((text) => (typeof text === 'string' && text !== '' ? [{ text }] : []))
}

function signed(texts: readonly AnswerPart[], signature: string | undefined): readonly AnswerPart[] {
  if (signature === undefined) return texts
  const last = texts.at(-1) ?? { text: '' }
  return [...texts.slice(0, -1), { ...last, thoughtSignature: signature }]
}
