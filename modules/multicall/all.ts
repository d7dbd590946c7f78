import type { Choice, Completion, Message } from '#kernel'
import { addNumbers, answerTexts } from '#kit'
import type { Answered } from './gather.ts'

/** Wires whose answers have room for one message only. */
const single: readonly string[] = ['messages', 'responses']

/**
 * All answers as one. Where the wire knows choices, each is a choice, with the name of its model. Elsewhere the texts are one
 * message, each under the name of its model, with the function calls of the first that makes some: a client would carry out all
 * of them.
 */
export function together(answers: readonly Answered[], wire: string): Completion {
  const [first] = answers
  const usages = answers.flatMap(({ body }) => body.usage ?? [])
  const usage = usages.length > 0 ? { usage: usages.reduce(addNumbers) } : {}
  const choices = single.includes(wire) ? [oneOf(answers)] : choicesOf(answers)
  return { ...first!.body, ...usage, choices: choices.map((choice, index) => ({ ...choice, index })) }
}

/** The models of the choices, in their order. */
export const modelsOf = (answers: readonly Answered[], wire: string): string[] =>
  single.includes(wire) ? answers.map(({ model }) => model) : choicesOf(answers).map(({ model }) => model)

const choicesOf = (answers: readonly Answered[]): (Choice & { readonly model: string })[] =>
  answers.flatMap(({ model, body }) => (body.choices ?? []).map((choice) => ({ ...choice, model })))

function oneOf(answers: readonly Answered[]): Choice {
  const firsts = answers.map(({ body }) => body.choices?.[0])
  const calling = firsts.find((choice) => choice?.message?.tool_calls?.length)
  const texts = answers.map(({ model, body }) => {
    const [choice] = body.choices ?? []
    const content = choice?.message && { ...choice, message: { ...choice.message, tool_calls: [] } }
    return `## ${model}\n\n${answerTexts({ choices: content ? [content] : [] }).join('\n')}`
  })
  const message: Message = {
    role: 'assistant',
    content: texts.join('\n\n'),
    ...(calling && { tool_calls: calling.message!.tool_calls! }),
  }
  return { index: 0, message, finish_reason: (calling ?? firsts[0])?.finish_reason ?? 'stop' }
}
