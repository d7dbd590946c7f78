import { type Context, type Principal, TraceReader } from '#kernel'
import { sourceUserOf } from '#kit'
import { allowsContent } from '../configuration/content.ts'
import type { Configuration } from '../configuration/fields.ts'
import { Budget } from './budget.ts'
import type { Calibrations } from './calibrations.ts'
import type { Comparison } from './comparison.ts'
import { answerId, type CalibrationRow, spentOn } from './rows.ts'
import { pastCall } from './samples.ts'

/** Calls that are repeated at a time, each at all candidates. */
const atATime = 3

export interface Performing extends Pick<Context<unknown>, 'use'> {
  readonly calibrations: Calibrations
  readonly comparison: Comparison
  readonly content: () => Configuration['content']
}

/** Does a calibration, or what is left of it. Answers that were scored before are not asked for again. */
export async function perform(performing: Performing, id: string, signal: AbortSignal): Promise<void> {
  const { calibrations } = performing
  const calibration = await calibrations.rows.get(id)
  if (calibration?.status !== 'running') return
  const known = new Map((await calibrations.answersOf(id)).map((answer) => [answer.id, answer]))
  const spent = [...known.values()].reduce((sum, answer) => sum + spentOn(answer), 0)
  const budget = new Budget(calibration.max_nano, spent)
  const traces = calibration.samples.values()
  let isOutOfMoney = false
  let isOver = false

  async function work(): Promise<void> {
    try {
      for (const { trace_id } of traces) {
        if (isOutOfMoney || isOver) return
        signal.throwIfAborted()
        if (!(await repeat(trace_id))) isOutOfMoney = true
      }
    } catch (error) {
      isOver = true
      throw error
    }
  }

  /** Asks all candidates; false when the money does not suffice. */
  async function repeat(trace: string): Promise<boolean> {
    const principal = principalOf(calibration!)
    const past = await pastCall(performing.use(TraceReader), trace, principal)
    // Whoever was taken off the list meanwhile, or erased, is left out.
    if (!past || !allowsContent(performing.content(), past.trace.user_id, past.trace.project)) return true
    const { project } = past.trace
    const sourceUser = sourceUserOf(past.trace)
    const origin = {
      ...{ principal, ip: calibration!.ip, project, parent: trace, signal },
      ...(sourceUser !== undefined && { sourceUser }),
    }
    const made = await allOf(
      calibration!.candidates.map((model) => {
        const before = known.get(answerId(id, trace, model))
        if (before && before.status !== 'asked') return true
        return performing.comparison.make({ calibration: calibration!, past, model, before, budget, origin })
      }),
    )
    return made.every(Boolean)
  }

  await allOf(Array.from({ length: atATime }, work))
  signal.throwIfAborted()
  await calibrations.end(id, { status: 'completed', out_of_money: isOutOfMoney })
}

const principalOf = ({ principal }: CalibrationRow): Principal => ({
  userId: undefined,
  tenant: undefined,
  ...principal,
})

/** The results of all, once none is under way: an attempt after a failure would spend beside them otherwise. */
async function allOf<T>(promises: readonly (T | Promise<T>)[]): Promise<T[]> {
  await Promise.allSettled(promises)
  return Promise.all(promises)
}
