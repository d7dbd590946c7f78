import type { Call, JsonObject, StructuredOutput, Target } from '#kernel'
import { closedSchema } from '#provider'
import { factsOf, type ModelFacts } from './models.ts'

/** How the form of an answer goes out. */
export interface Form {
  readonly way: StructuredOutput
  /** As the service takes it; undefined where it goes out in words. */
  readonly schema?: { readonly name: string; readonly body: JsonObject }
  /** The changes that it needed. */
  readonly changes?: readonly string[]
}

const words: Form = { way: 'instruction' }

export const structuredOutput = (call: Call, { model }: Target): StructuredOutput =>
  formOf(call, factsOf(model))!.way

/**
 * The form of a call's answer; undefined where it asks for none. Models that take no schema and can be made to call a
 * tool get one with it, as long as there is no other tool to call.
 */
export function formOf({ request }: Call, facts: ModelFacts): Form | undefined {
  const { response_format: format, tools } = request
  if (format?.type !== 'json_schema') return format?.type === 'json_object' ? words : undefined
  const { name = 'answer', schema } = format.json_schema ?? {}
  if (!schema) return words
  const closed = facts.schema ? closedSchema(schema) : undefined
  if (closed) return { way: 'native', schema: { name, body: closed.schema }, changes: closed.changes }
  const canBeTool = facts.maker !== 'other' && (tools ?? []).length === 0 && schema.type === 'object'
  return canBeTool ? { way: 'tool', schema: { name, body: schema } } : words
}
