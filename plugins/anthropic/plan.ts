import type { Call, JsonObject, ResponseFormat, Target } from '#kernel'
import { type Fit, fitOf } from './fit.ts'
import { factsOf, type ModelFacts } from './models.ts'
import { isNative } from './native.ts'

/** What the way out and the way back have to agree on. The same call has the same plan. */
export interface Plan {
  /** Whether the client speaks the protocol itself: the answer's bytes are then what it is to get. */
  readonly native: boolean
  readonly facts: ModelFacts
  readonly fit: Fit
  /** The schema for the answer, if one is asked for. */
  readonly schema: JsonObject | undefined
  /** The schema goes out as a tool that must be called, and the call comes back as the answer's text. */
  readonly schemaAsTool: boolean
}

/** The tool that stands for a schema, for models that take none. */
export const schemaTool = 'answer'

export function planOf(call: Call, { model }: Target): Plan {
  const { request } = call
  const native = isNative(call)
  const facts = factsOf(model)
  const schema = schemaOf(request.response_format)
  const schemaAsTool = schema !== undefined && !native && !facts.schema && (request.tools ?? []).length === 0
  const fit = fitOf(call)
  return { native, facts, fit, schema, schemaAsTool }
}

function schemaOf(format: ResponseFormat | null | undefined): JsonObject | undefined {
  return format?.type === 'json_schema' ? (format.json_schema?.schema ?? { type: 'object' }) : undefined
}
