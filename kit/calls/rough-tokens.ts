import type { Message, ModelRequest } from '../canonical/forms.ts'
import { estimatorOf } from './estimate.ts'

/** What stands around a message, and what a usual image takes. */
const perMessage = 4
const perOtherPart = 1500

/** Looks at few characters: most calls of a gateway are estimated so. */
const estimator = estimatorOf(undefined, 512)

/**
 * About how many tokens a prompt has, at once and whatever its length. It may be wrong by half: good enough for a prompt that is
 * far from its limit.
 */
export function roughTokens({ messages = [], prompt, input, tools }: Partial<ModelRequest>): number {
  const texts: string[] = []
  let others = 0
  for (const message of messages) others += perMessage + addMessage(message, texts)
  for (const given of [prompt, input].flat(2)) {
    if (typeof given === 'string') texts.push(given)
    else if (given !== undefined) others += 1
  }
  if (tools && tools.length > 0) texts.push(JSON.stringify(tools))
  return estimator.countAll(texts) + others
}

function addMessage({ content, tool_calls }: Message, texts: string[]): number {
  let others = 0
  if (typeof content === 'string') texts.push(content)
  else {
    for (const part of content ?? []) {
      if (typeof part.text === 'string') texts.push(part.text)
      else others += perOtherPart
    }
  }
  for (const { function: called } of tool_calls ?? []) if (called) texts.push(called.name, called.arguments)
  return others
}
