import type { Call, JsonObject, ResponseFormat, Target } from '#kernel'
import { factsOf, type ModelFacts } from './models.ts'

/** What the way out and the way back have to agree on. The same call has the same plan. */
export interface Plan {
  readonly facts: ModelFacts
  /** The schema for the answer, if one is asked for. */
  readonly schema: { readonly name: string; readonly body: JsonObject } | undefined
  /** The schema goes out as a tool that must be called, and the call comes back as the answer's text. */
  readonly schemaAsTool: boolean
}

/** The tool that stands for a schema, for models that take none. */
export const schemaTool = 'answer'

export function planOf({ request }: Call, { model }: Target): Plan {
  const facts = factsOf(model)
  const schema = schemaOf(request.response_format)
  return {
    facts,
    schema,
    schemaAsTool: schema !== undefined && !facts.schema && (request.tools ?? []).length === 0,
  }
}

function schemaOf(format: ResponseFormat | null | undefined): Plan['schema'] {
  if (format?.type !== 'json_schema') return undefined
  const { name = 'answer', schema = { type: 'object' } } = format.json_schema ?? {}
  return { name, body: schema }
}
