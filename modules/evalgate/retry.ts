import { z } from 'zod'
import type { Call, Completion } from '#kernel'
import { answerTexts } from '#kit'
import type { Evaluation } from './evaluation.ts'

/** How an answer is asked for again. */
export const retry = z.strictObject({
  tell: z.boolean().default(true).meta({
    description: 'Whether the model is shown its answer, and told what was wrong with it.',
  }),
  temperature: z.number().min(0).max(2).optional().meta({ description: 'The temperature to ask at.' }),
  model: z.string().min(1).max(256).optional().meta({ description: 'The model to ask.' }),
})

type Retry = z.infer<typeof retry>

/** The call again, after an answer that failed. */
export function retried(
  call: Call,
  body: Completion,
  evaluation: Evaluation,
  { tell, temperature, model }: Retry,
): Call {
  const reason = `an answer failed ${evaluation.failed.join(', ')}`
  if (model !== undefined) call.trace.decide({ kind: 'evalgate', chosen: model, reason })
  const said = answerTexts(body)[0]
  const told = [
    ...(call.request.messages ?? []),
    ...(said ? [{ role: 'assistant', content: said }] : []),
    {
      role: 'user',
      content: `That answer cannot be used:\n${evaluation.problems.join('\n')}\nAnswer again, without a word about this.`,
    },
  ]
  return call.withRequest({
    ...(tell && { messages: told }),
    ...(temperature !== undefined && { temperature }),
    ...(model !== undefined && { model }),
  })
}
