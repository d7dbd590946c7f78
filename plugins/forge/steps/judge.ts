import type { ModelRequest } from '#kernel'
import { type Verdict, verdictIn, verdictRequest } from '#kit'
import type { Part } from '../workflows/step.ts'
import { filled, type Scope } from '../workflows/value.ts'
import { type Asking, ask, modelNamed } from './ask.ts'
import { StepFault } from './fault.ts'

type Judge = Extract<Part, { type: 'judge' }>

/** The request for the verdict of a step. */
export const judgeRequest = (step: Judge, scope: Scope): ModelRequest =>
  verdictRequest({
    model: modelNamed(step),
    criteria: filled(step.config.criteria, scope),
    value: filled(step.config.value, scope),
    most: step.config.max_score,
    params: step.params,
  })

/** Has a model judge; the output is its score and its reason. */
export async function runJudge(asking: Asking, step: Judge, request: ModelRequest): Promise<Verdict> {
  const verdict = verdictIn(await ask(asking, request), step.config.max_score)
  if (verdict) return verdict
  throw new StepFault('output_invalid', 'The model gave no score with a reason.', { mayPass: true })
}
