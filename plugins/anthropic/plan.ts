import type { Call, Target } from '#kernel'
import { type Fit, fitOf } from './fit.ts'
import { factsOf, type ModelFacts } from './models.ts'
import { isNative } from './native.ts'
import { type Form, formOf } from './structured-output.ts'

/** The decisions that the request and the answer must agree on. The same call has the same plan. */
export interface Plan {
  /** Whether the client speaks the protocol itself: the answer's bytes are then what it is to get. */
  readonly native: boolean
  readonly facts: ModelFacts
  readonly fit: Fit
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
  return { native: isNative(call), facts, fit: fitOf(call), form, schemaAsTool: form?.way === 'tool' }
}
