import { BudgetExceeded, CallBudget, type Schemas } from '#kit'
import type { Scored } from '../experiments/decide.ts'
import type { Asking } from './ask.ts'
import { type MadeCell, makeCell } from './cell.ts'
import { type Cell, cellsOf, type Plan } from './plan.ts'
import { type Prompts, requestOf } from './request.ts'
import type { AnswerRow, RunRow } from './rows.ts'
import { Scorers } from './score.ts'

/** What a run works with. */
export interface Work {
  readonly call: Asking['call']
  readonly schemas: Schemas
  readonly run: RunRow
  readonly plan: Plan
  readonly prompts: Prompts
  /** What came of calls before, such as before a restart. */
  readonly before: readonly AnswerRow[]
  readonly maxParallel: number
  readonly signal: AbortSignal
  /** Keeps what came of a call; resolves when it is on disk. */
  readonly keep: (made: MadeCell) => Promise<void>
  /** Whether the answers so far decide what the run is to find out. */
  readonly isDecided: (answers: readonly Scored[]) => boolean
}

/** How the calls of a run came to an end. */
export type WorkEnd = 'all' | 'decided' | 'too_dear'

/** Looks at what was found so far, in a run that may end early. */
const looks = 50

/** Makes the calls of a run that were not made yet, several at a time. Rejects with the reason of the signal. */
export async function workOff(work: Work): Promise<WorkEnd> {
  const { run, plan, prompts, before, signal, keep } = work
  const budget = new CallBudget(run.max_cost_nano, run.cost_nano)
  const asking: Asking = { call: work.call, run, budget, signal }
  const scorers = new Scorers(work.schemas)
  const answers: Scored[] = before.map(scoredOf)
  const made = new Set(before.map(({ n }) => n))
  const cells = cellsOf(plan)
  const left = cells.filter(({ n }) => !made.has(n)).values()
  const lookEvery = Math.max(1, Math.ceil(cells.length / looks))
  let end: WorkEnd = plan.stop.early && work.isDecided(answers) ? 'decided' : 'all'
  let failure: { readonly error: unknown } | undefined

  const one = async (cell: Cell): Promise<void> => {
    const request = requestOf(plan.arms[cell.arm]!, plan.cases[cell.case]!, prompts, 'dataset')
    const done = await makeCell(asking, plan, cell, request, scorers)
    await keep(done)
    if (done.isTooDear) throw new BudgetExceeded('A judge could not be asked any more')
    answers.push(scoredOf(done.row))
    if (plan.stop.early && answers.length % lookEvery === 0 && work.isDecided(answers)) end = 'decided'
  }
  const worker = async (): Promise<void> => {
    for (const cell of left) {
      if (end !== 'all' || failure) return
      try {
        await one(cell)
      } catch (error) {
        if (error instanceof BudgetExceeded) end = 'too_dear'
        else failure ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(work.maxParallel, cells.length) }, worker))
  signal.throwIfAborted()
  if (failure) throw failure.error
  return end
}

export const scoredOf = ({ n, arm, case: at, score }: AnswerRow): Scored => ({ n, arm, case: at, score })
