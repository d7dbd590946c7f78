import type { Context, ModelRequest, Outcome } from '#kernel'
import { answerText, type CallBudget, collect } from '#kit'
import type { RunRow } from '../runs/rows.ts'
import { StepFault } from './fault.ts'

/** What the calls of a step used, those that failed included. */
export class Usage {
  tokens_in = 0
  tokens_out = 0
  cost_nano = 0
  /** The trace of the last call. */
  trace_id: string | undefined

  add({ usage, cost }: Outcome): void {
    this.tokens_in += usage.input
    this.tokens_out += usage.output
    this.cost_nano += cost?.totalNano ?? 0
  }
}

/** In whose name a step asks models, and on which account. */
export interface Asking {
  readonly call: Context<unknown>['call']
  readonly run: RunRow
  readonly budget: CallBudget
  readonly usage: Usage
  readonly signal: AbortSignal
}

interface Model {
  readonly model: string
  readonly provider?: string | undefined
}

/** A model by the name that a call gives it. */
export const modelNamed = ({ model, provider }: Model): string =>
  provider === undefined ? model : `${provider}/${model}`

/** Asks a model, through all modules, in the name of who began the run; resolves with the text of the answer. */
export async function ask(
  { call, run, budget, usage, signal }: Asking,
  request: ModelRequest,
): Promise<string> {
  const settle = await budget.claim(signal, request.model)
  const before = usage.cost_nano
  let wasAnswered = false
  try {
    const made = call(request, {
      as: { userId: undefined, tenant: undefined, ...run.principal },
      source: 'workflow',
      ip: run.ip,
      project: run.project,
      session: run.id,
      tags: { workflow: run.workflow_slug },
      signal,
    })
    usage.trace_id = made.id
    try {
      const text = answerText(await collect(await made.reply))
      wasAnswered = true
      if (text === '') throw new StepFault('output_invalid', 'The model said nothing.', { mayPass: true })
      return text
    } finally {
      const outcome = await made.outcome
      if (outcome) usage.add(outcome)
    }
  } finally {
    settle(usage.cost_nano - before, wasAnswered)
  }
}
