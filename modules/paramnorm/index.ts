import { z } from 'zod'
import { badRequest, type Call, defineModule } from '#kernel'
import { compileGlobs, ensure, modelName } from '#kit'
import { type Family, families } from './families.ts'
import { normalise } from './normalise.ts'

const rule = z.strictObject({
  models: z
    .array(z.string().min(1))
    .min(1)
    .meta({ description: 'Globs for the model without its provider.' }),
  rename: z
    .record(z.string(), z.string())
    .default({})
    .meta({ description: 'New name of each renamed parameter.' }),
  drop: z.array(z.string()).default([]).meta({ description: 'Parameters to remove.' }),
})

/** Models whose families are remembered. */
const remembered = 1000

export default defineModule({
  settings: z.strictObject({
    strict: z.boolean().default(false).meta({
      title: 'Strict',
      description: 'Refuse a request instead of changing its parameters.',
    }),
    rules: z
      .array(rule)
      .default([])
      .meta({ title: 'Rules', description: 'Further models and their parameters.' }),
  }),

  setup({ settings }) {
    const known = [...families, ...settings.rules].map((family) => ({
      family,
      matches: compileGlobs(family.models),
    }))
    const byModel = new Map<string, readonly Family[]>()

    const familiesFor = (model: string): readonly Family[] =>
      known.flatMap(({ family, matches }) => (matches(model) ? [family] : []))
    const familiesOf = (model: string) => ensure(byModel, model, () => familiesFor(model), remembered)

    return {
      pure: true,
      request(call: Call) {
        if (call.operation !== 'chat') return undefined
        const { request, changes } = normalise(call.request, familiesOf(modelName(call).model))
        if (changes.length === 0) return undefined
        if (settings.strict) throw refusal(changes, call.request.model)
        for (const change of changes) call.trace.changeParam(change)
        return call.with({ request })
      },
    }
  },
})

function refusal(changes: readonly string[], model: string) {
  const [first = ''] = changes
  const param = first.replace(/^-|->.*$|^role .*/g, '') || 'messages'
  return badRequest(`${model} does not accept these parameters: ${changes.join(', ')}.`, {
    param,
    details: { changes },
  })
}
