import type { Call, StructuredOutput, Target } from '#kernel'
import { abilitiesOf } from './model.ts'
import { quirksOf } from './quirks.ts'
import { saysForm } from './said.ts'

/**
 * Older models answer in JSON or call functions; those before them, and Gemma's, know no form of answers. The fields of a
 * client of the protocol go as they came.
 */
export function structuredOutput(call: Call, { provider, model }: Target): StructuredOutput {
  if (saysForm(call)) return 'native'
  const { request } = call
  const { json } = abilitiesOf(model, quirksOf(provider))
  const offers = (request.tools ?? []).length > 0
  return json === 'always' || (json === 'alone' && !offers) ? 'native' : 'instruction'
}
