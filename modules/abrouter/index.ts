import { z } from 'zod'
import { type Call, defineModule, Feedback, TraceReader } from '#kernel'
import { compileGlobs } from '#kit'
import { experimentsSchema, variantOf } from './experiment.ts'
import { resultsOf, variantResult } from './results.ts'

const dayMs = 24 * 60 * 60 * 1000
const days = z.coerce.number().int().min(1).max(90).default(7).meta({ description: 'How far back.' })

export default defineModule({
  settings: z.strictObject({
    experiments: experimentsSchema.default({}).meta({
      title: 'Experiments',
      description:
        'Variants of the model and of parameters, by name. A call takes part in the first whose models it asks for.',
    }),
  }),

  once({ route, use, find }) {
    route({
      method: 'get',
      path: '/api/modules/abrouter/results',
      access: 'admin',
      summary: 'What variants of experiments did, each figure with its interval of 95 % confidence',
      query: z.strictObject({ days }),
      returns: z.object({ since: z.string(), results: z.array(variantResult) }),
      async handle({ query }) {
        const from = Date.now() - query.days * dayMs
        const feedback = find(Feedback)?.scan(from) ?? none()
        const results = await resultsOf(use(TraceReader).scan({ from }), feedback)
        return { since: new Date(from).toISOString(), results }
      },
    })
  },

  setup({ id, settings }) {
    const binding = id.split('/')[1]
    const all = Object.entries(settings.experiments).map(([name, experiment]) => ({
      id: binding === undefined ? name : `${binding}:${name}`,
      experiment,
      matches: compileGlobs(experiment.models),
    }))
    if (all.length === 0) return {}
    return {
      pure: true,
      leadsTo: () =>
        all.flatMap(({ id, experiment }) =>
          Object.values(experiment.variants).flatMap(({ model }) =>
            model === undefined ? [] : [{ from: id, model }],
          ),
        ),
      request(call) {
        const { request, trace, context } = call
        const one = all.find(({ matches }) => matches(request.model))
        if (!one || context.provider !== undefined) return undefined
        const name = variantOf(one.id, one.experiment, call)
        trace.facts.experiment = { name: one.id, variant: name }
        const { model = request.model, parameters } = one.experiment.variants[name]!
        trace.decide({
          kind: 'experiment',
          chosen: name,
          reason: `experiment ${one.id}`,
          considered: Object.keys(one.experiment.variants),
        })
        for (const field of Object.keys(parameters)) trace.changeParam(field)
        const isSame = model === request.model && Object.keys(parameters).length === 0
        return isSame ? undefined : call.withRequest({ ...parameters, model })
      },
      // Which experiment a call takes part in may be decided by an alias, so its variants in all of them tell it apart.
      varies: (call: Call) => all.map((one) => variantOf(one.id, one.experiment, call)).join(),
    }
  },
})

async function* none() {}
