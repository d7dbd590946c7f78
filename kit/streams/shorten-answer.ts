import type { ChoiceDelta } from '../canonical/forms.ts'

/** The texts of a delta that a model is billed for: what it says, thinks and declines with. */
const billed = ['content', 'reasoning_content', 'reasoning', 'refusal'] as const

/** Characters of everything in a choice that a model is billed for, the arguments of calls included. */
export function answerLength({ text, delta }: ChoiceDelta): number {
  const parts = [text, ...billed.map((field) => delta?.[field])]
  const calls = delta?.tool_calls?.map((call) => call.function?.arguments) ?? []
  return [...parts, ...calls].reduce<number>(
    (sum, part) => sum + (typeof part === 'string' ? part.length : 0),
    0,
  )
}

/** A choice with so many characters of its texts, the first ones, and without what spells them out once more. No character is halved. */
export function shortenAnswer({ logprobs: _, ...choice }: ChoiceDelta, characters: number): ChoiceDelta {
  let room = characters
  const take = (text: string): string => {
    const kept = text.slice(0, room)
    room -= kept.length
    return kept.length === text.length || kept.isWellFormed() ? kept : kept.slice(0, -1)
  }
  const { text, delta } = choice
  if (!delta) return { ...choice, ...(typeof text === 'string' && { text: take(text) }) }
  const { reasoning_details: __, tool_calls: calls, ...said } = delta
  const texts = billed.filter((field) => typeof said[field] === 'string')
  const kept = Object.fromEntries(texts.map((field) => [field, take(said[field] as string)]))
  const cut = calls?.map((call) => {
    const args = call.function?.arguments
    return args === undefined ? call : { ...call, function: { ...call.function, arguments: take(args) } }
  })
  return { ...choice, delta: { ...said, ...kept, ...(cut && { tool_calls: cut }) } }
}
