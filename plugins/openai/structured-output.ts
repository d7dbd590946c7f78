import type { Call, StructuredOutput, Target } from '#kernel'
import { compileGlobs } from '#kit'
import { quirksOf } from './quirks.ts'

/** What a provider's manifest says of its models, and where it is silent the catalogue. */
export function structuredOutput(
  { request }: Call,
  { provider, model }: Target,
  listed: boolean | undefined,
): StructuredOutput {
  const { models, except, json_object, beside_tools } = quirksOf(provider).structured_output
  if (!beside_tools && (request.tools ?? []).length > 0) return 'instruction'
  if (request.response_format?.type === 'json_object') return json_object ? 'native' : 'instruction'
  if (compileGlobs(except)(model)) return 'instruction'
  return (listed ?? compileGlobs(models)(model)) ? 'native' : 'instruction'
}
