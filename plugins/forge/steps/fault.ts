import { callProblem, mayPass } from '#kit'

/** Why a step failed, as it is kept and shown: it names fields and never what they hold. */
export interface Problem {
  readonly code: string
  readonly message: string
}

/** A failure of a step with a code. `mayPass` says that another attempt may succeed. */
export class StepFault extends Error {
  readonly code: string
  readonly mayPass: boolean

  constructor(code: string, message: string, { mayPass = false } = {}) {
    super(message)
    this.code = code
    this.mayPass = mayPass
  }
}

/** The form in which any failure of a step is kept. */
export function problemOf(error: unknown): Problem {
  if (error instanceof StepFault) return { code: error.code, message: error.message }
  return callProblem(error)
}

/** Whether another attempt may succeed where this one failed, such as at a limit. */
export const canPass = (error: unknown): boolean =>
  error instanceof StepFault ? error.mayPass : mayPass(error)
