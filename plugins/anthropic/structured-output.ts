import type { Call, JsonObject, StructuredOutput, Target } from '#kernel'
import { closedSchema } from '#provider'
import { factsOf, type ModelFacts } from './models.ts'
import { isNative } from './native.ts'

/** How the form of an answer goes out. */
export interface Form {
  readonly way: StructuredOutput
  /** As the service takes it; undefined where it goes out in words. */
  readonly schema?: JsonObject
  /** The changes that it needed. */
  readonly changes?: readonly string[]
}

const words: Form = { way: 'instruction' }

export const structuredOutput = (call: Call, { model }: Target): StructuredOutput =>
  formOf(call, factsOf(model))!.way

/**
 * The form of a call's answer; undefined where the call asks for none. The fields of a client of this protocol go as they came.
 * For other clients, the schema goes as the service takes it, to models that take any; else it becomes the input of a tool that
 * must be called, as long as there is no other tool to call.
 */
export function formOf(call: Call, facts: ModelFacts): Form | undefined {
  const { response_format: format, tools } = call.request
  if (format?.type !== 'json_schema') return format?.type === 'json_object' ? words : undefined
  const { schema, strict } = format.json_schema ?? {}
  if (!schema) return words
  if (isNative(call) && strict && facts.schema !== false) return { way: 'native', schema }
  const closed = facts.schema ? closedSchema(schema) : undefined
  if (closed) return { way: 'native', ...closed }
  const canBeTool = !isNative(call) && (tools ?? []).length === 0 && schema.type === 'object'
  return canBeTool ? { way: 'tool', schema } : words
}
