import type { Call, Completion, Message } from '#kernel'
import { answerKey } from '#kit'

/** Longer questions hold too much that may matter. In characters. */
const longest = 4000

/** The last message of a call, and what came before it. */
export interface Question {
  readonly text: string
  readonly before: readonly Message[]
  readonly last: Message
}

/** What a call asks; undefined unless it ends with a short message of the user that is only text. */
export function questionOf({ request }: Call): Question | undefined {
  const last = request.messages?.at(-1)
  if (last?.role !== 'user') return undefined
  const text = textOf(last.content)
  if (text === undefined || text.trim() === '' || text.length > longest) return undefined
  return { text, last, before: request.messages!.slice(0, -1) }
}

/** The key of the answers to a question in this form: everything else of the call must be the same. */
export function keyOf(
  call: Call,
  { before, last }: Question,
  form: readonly string[],
  circle: string,
): string {
  const said = { ...last, content: JSON.stringify(form) }
  return answerKey(call.withRequest({ messages: [...before, said] }), circle)
}

function textOf(content: Message['content']): string | undefined {
  if (typeof content === 'string') return content
  if (!content?.every((part) => part.type === 'text' && Object.keys(part).length === 2)) return undefined
  return content.map(({ text }) => text).join('\n')
}

/** An answer with the question that it was given to, which is sealed with it. */
export const withQuestion = (body: Completion, text: string): Completion => ({ ...body, [field]: text })

/** An answer as the provider gave it, and the question that it was given to. */
export function splitQuestion({ [field]: text, ...body }: Completion): { text: string; body: Completion } {
  return { text: String(text), body }
}

const field = 'switchyard_question'
