import { z } from 'zod'
import { type Call, defineModule, ModelLadder, SpendShare } from '#kernel'
import { Configurations, modelName } from '#kit'
import { Ladders, laddersSchema } from './ladders.ts'

export default defineModule({
  settings: z.strictObject({
    ladders: laddersSchema.default([]).meta({
      title: 'Ladders',
      description: 'Families of models. A call for a model that is on no ladder is left alone.',
    }),
  }),

  once({ provide }) {
    const all = new Configurations<Ladders>()
    provide(ModelLadder, {
      steps: (_, model, share) =>
        all.values.map((ladders) => ladders.from(model, share)).find((models) => models.length > 0) ?? [],
      stepAfter: (model, share) => all.values.find((ladders) => ladders.has(model))?.stepAfter(model, share),
    })
    return all
  },

  setup({ id, settings, mode, own, find, targets }, all) {
    if (settings.ladders.length === 0) return {}
    const ladders = new Ladders(settings.ladders)
    if (mode === 'enforce') own(all.add(id, ladders))
    const shareOf = (call: Call): number => find(SpendShare)?.of(call) ?? 0

    /** The best of these models that is served for the caller. */
    async function lower(call: Call, from: string, models: readonly string[]): Promise<Call | undefined> {
      for (const model of models) {
        const lowered = call.withRequest({ model })
        if ((await targets(lowered)).length === 0) continue
        const { trace } = call
        trace.decide({
          kind: 'downgrade',
          chosen: model,
          reason: `${Math.floor(shareOf(call) * 100)} % of the budget is used`,
          considered: models,
        })
        trace.note(id, 'downgraded', { from, to: model })
        trace.header('X-Model-Downgraded', `${from}->${model}`)
        find(SpendShare)?.lowered(call)
        return lowered
      }
      return undefined
    }

    return {
      request(call) {
        const share = shareOf(call)
        const { model } = modelName(call)
        const models = ladders.from(model, share)
        // The cheapest model of a ladder is as low as a call can go.
        if (models.length === 1 && models[0] === model) find(SpendShare)?.lowered(call)
        return models.length === 0 || models[0] === model ? undefined : lower(call, model, models)
      },
      varies: (call) => ladders.stepsAt(shareOf(call)),
    }
  },
})
