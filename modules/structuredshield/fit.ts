import type { Choice, Completion } from '#kernel'
import { extract } from './extract.ts'
import type { Validate } from './validator.ts'

export interface Fit {
  readonly fitted: Completion
  /** The first answer that does not fit. */
  readonly answer: string
  readonly problems: readonly string[]
}

/** Every choice as clean JSON that fits, as far as it is an answer; the others stay as they are. */
export async function fit(body: Completion, validate: Validate): Promise<Fit> {
  let answer = ''
  let problems: readonly string[] = []
  const fitted = async (choice: Choice): Promise<Choice> => {
    const text = answerOf(choice)
    if (text === undefined) return choice
    const result = await read(text, validate)
    if (result.problems.length > 0) {
      if (problems.length === 0) answer = text
      problems = [...problems, ...result.problems]
      return choice
    }
    return isJson(text, result.value) ? choice : withText(choice, JSON.stringify(result.value))
  }
  const choices = body.choices && (await Array.fromAsync(body.choices, fitted))
  const same = choices?.every((choice, n) => choice === body.choices![n]) ?? true
  return { fitted: same || !choices ? body : { ...body, choices }, answer, problems }
}

/** The reasons for which a model ends by itself. Any other end means a cut or refused answer, which stays as it is. */
const ownEnds = new Set<unknown>(['stop', 'end_turn', 'stop_sequence', 'eos', undefined, null])

/**
 * The text that must fit; undefined for refusals, calls of tools, what was cut off, a turn of Claude's that only pauses,
 * and words around what a service did by itself: they are no answers to hold to it.
 */
export function answerOf(choice: Choice): string | undefined {
  const { message, finish_reason: reason, native_finish_reason: native } = choice
  if (!message || message.refusal || message.tool_calls?.length || message.vendor_blocks) return undefined
  if (!ownEnds.has(reason) || native === 'pause_turn') return undefined
  const content = message.content ?? ''
  return typeof content === 'string' ? content : undefined
}

/** The problems of a text that the client has already, and that can no longer be repaired. */
export async function problemsAsItStands(text: string, validate: Validate): Promise<readonly string[]> {
  const { value, problems } = await read(text, validate)
  if (problems.length > 0) return problems
  return isJson(text, value) ? [] : ['/ is not JSON that matches the schema without repair']
}

/** The value in a text, and what is wrong with it. */
async function read(text: string, validate: Validate): ReturnType<Validate> {
  const found = extract(text)
  return found ? validate(found.value) : { value: undefined, problems: ['/ is not JSON'] }
}

const withText = (choice: Choice, content: string): Choice => ({
  ...choice,
  message: { ...choice.message!, content },
})

/** Whether the text is this very value already, whatever its white space. */
function isJson(text: string, value: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value)
  } catch {
    return false
  }
}
