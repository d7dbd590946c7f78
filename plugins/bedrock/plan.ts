import type { Call, Target } from '#kernel'
import { factsOf, type ModelFacts } from './models.ts'
import { type Form, formOf } from './structured-output.ts'

/** The decisions that the request and the answer must agree on. The same call has the same plan. */
export interface Plan {
  readonly facts: ModelFacts
  /** How the form of the answer goes out, if one is asked for. */
  readonly form: Form | undefined
  /** The schema goes out as a tool that must be called, and the call comes back as the answer's text. */
  readonly schemaAsTool: boolean
}

/** The tool that stands for a schema, for models that take none. */
export const schemaTool = 'answer'

export function planOf(call: Call, { model }: Target): Plan {
  const facts = factsOf(model)
  const form = formOf(call, facts)
  return { facts, form, schemaAsTool: form?.way === 'tool' }
}
