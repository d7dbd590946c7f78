import type { Call, JsonObject, ResponseFormat, Target } from '#kernel'
import { type FittingNames, fittingNames } from '#kit'
import { type Fit, fitOf } from './fit.ts'
import { factsOf, type ModelFacts } from './models.ts'
import { isNative } from './native.ts'

/** What the way out and the way back have to agree on. The same call has the same plan. */
export interface Plan {
  readonly native: boolean
  readonly facts: ModelFacts
  readonly fit: Fit
  readonly names: FittingNames
  /** The schema for the answer, if one is asked for. */
  readonly schema: JsonObject | undefined
  /** The schema goes out as a tool that must be called, and the call comes back as the answer's text. */
  readonly schemaAsTool: boolean
  /** Whether the answer's bytes are what the client is to get. */
  readonly passes: boolean
}

const nameForm = /^[a-zA-Z0-9_-]{1,128}$/

/** The tool that stands for a schema, for models that take none. */
export const schemaTool = 'answer'

export function planOf(call: Call, { model }: Target): Plan {
  const { request } = call
  const native = isNative(call)
  const facts = factsOf(model)
  const names = fittingNames(request, nameForm)
  const schema = schemaOf(request.response_format)
  const schemaAsTool = schema !== undefined && !native && !facts.schema && (request.tools ?? []).length === 0
  const fit = fitOf(call)
  return { native, facts, fit, names, schema, schemaAsTool, passes: native && !names.changed }
}

function schemaOf(format: ResponseFormat | null | undefined): JsonObject | undefined {
  return format?.type === 'json_schema' ? (format.json_schema?.schema ?? { type: 'object' }) : undefined
}
