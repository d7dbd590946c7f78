import type { Candidate, Completion } from '#kernel'
import { callProblem, type PastCall } from '#kit'
import type { Asking, Origin } from './asking.ts'
import { isAsGood, marksIn, questionTo, saidIn } from './judge.ts'
import type { CalibrationRow } from './rows.ts'

interface Judged {
  /** The share of the two orders in which the answer is as good; absent where the judge did not say. */
  readonly score?: number
  readonly error?: string
  readonly costNano: number
}

interface Case {
  readonly calibration: Pick<CalibrationRow, 'judge'>
  readonly past: PastCall
  readonly origin: Origin
}

/** Where the judge is, and what each question may cost. */
interface Bench {
  readonly place: Candidate
  readonly bound: number
}

/** Asks a judge in both orders, so that one who prefers the first or the last answer gives half a hit. */
export async function judged(
  asking: Asking,
  { calibration: { judge }, past, origin }: Case,
  answer: Completion,
  { place, bound }: Bench,
): Promise<Judged> {
  const [reference, candidate] = [saidIn(past.response), saidIn(answer)]
  let [hits, costNano] = [0, 0]
  for (const isFirst of [false, true]) {
    const answers = isFirst ? { a: candidate, b: reference } : { a: reference, b: candidate }
    const asked = await asking.ask(questionTo(judge, past.request, answers), place, bound, origin)
    costNano += asked.costNano
    if (!asked.answer) return { error: `The judge failed: ${callProblem(asked.error).message}`, costNano }
    const marks = marksIn(asked.answer)
    if (!marks) return { error: 'The judge gave no marks.', costNano }
    hits += isAsGood(isFirst ? marks.a : marks.b, isFirst ? marks.b : marks.a) ? 1 : 0
  }
  return { score: hits / 2, costNano }
}
