import type { Completion } from '#kernel'
import { orderedJson, parseForeign } from '#kit'
import type { Answered } from './gather.ts'

/** The answers that say the same, those first that most models gave; of as many, the one whose model is listed first. */
export function ballots(answers: readonly Answered[]): readonly (readonly Answered[])[] {
  const groups = new Map<string, Answered[]>()
  for (const answer of answers) {
    const said = saidIn(answer.body)
    const group = groups.get(said)
    if (group) group.push(answer)
    else groups.set(said, [answer])
  }
  return [...groups.values()].sort((a, b) => b.length - a.length)
}

/**
 * What an answer says, for a comparison: the functions that it calls with their arguments, else its JSON, whatever the order of
 * its fields, else its words.
 */
function saidIn({ choices = [] }: Completion): string {
  const [{ message, text = '' } = {}] = choices
  const calls = message?.tool_calls ?? []
  if (calls.length > 0) {
    return orderedJson(
      calls.map(({ function: fn }) => [fn?.name, parsed(fn?.arguments ?? '') ?? fn?.arguments]),
    )
  }
  const content = textIn(message?.content) || text
  const value = parsed(content.trim().replace(fence, '$1'))
  return value === undefined ? (content.toLowerCase().match(words)?.join(' ') ?? '') : orderedJson(value)
}

const fence = /^```\w*\n([\s\S]*)\n```$/
const words = /[\p{L}\p{M}\p{N}]+/gu

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map(({ text }) => text ?? '').join('') : ''
}

/** The value of a JSON text; undefined where it is none. */
function parsed(json: string): unknown {
  try {
    return parseForeign(json)
  } catch {
    return undefined
  }
}
