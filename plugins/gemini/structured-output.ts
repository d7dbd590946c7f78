import type { Call, StructuredOutput, Target } from '#kernel'
import { abilitiesOf } from './model.ts'
import { quirksOf } from './quirks.ts'

/** Older models answer in JSON or call functions; those before them, and Gemma's, know no form of answers. */
export function structuredOutput({ request }: Call, { provider, model }: Target): StructuredOutput {
  const { json } = abilitiesOf(model, quirksOf(provider))
  const offers = (request.tools ?? []).length > 0
  return json === 'always' || (json === 'alone' && !offers) ? 'native' : 'instruction'
}
