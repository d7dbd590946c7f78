import { BudgetExceeded, verdictIn, verdictRequest } from '#kit'
import { type Asking, askModel } from './ask.ts'
import type { Assertion } from './assertion.ts'
import type { Case } from './plan.ts'

type Judge = Extract<Assertion, { type: 'judge' }>

/** What a judge makes of an answer: a score from 0 to 1, or null where it gave none. */
export interface Judged {
  readonly score: number | null
  readonly cost_nano: number
  /** Whether the run may ask no more. */
  readonly isTooDear?: true
}

const most = 10

/** Has a model judge an answer to a question. What it fails to say is no failure of the one that is judged. */
export async function judgeAnswer(
  asking: Asking,
  { model, provider, criteria }: Judge,
  { prompt, messages, expected }: Case,
  answer: string,
): Promise<Judged> {
  const question = prompt ?? messages
  const value = {
    ...(question !== undefined && { question }),
    ...(expected !== undefined && { expected }),
    answer,
  }
  const name = provider === undefined ? model : `${provider}/${model}`
  try {
    const asked = await askModel(asking, verdictRequest({ model: name, criteria, value, most }))
    const verdict = asked.text === undefined ? undefined : verdictIn(asked.text, most)
    return { score: verdict ? verdict.score / most : null, cost_nano: asked.cost_nano ?? 0 }
  } catch (error) {
    if (error instanceof BudgetExceeded) return { score: null, cost_nano: 0, isTooDear: true }
    throw error
  }
}
