import { z } from 'zod'
import { defineModule, Feedback } from '#kernel'
import { Configurations, listed, listOf, listQuery, storedPage } from '#kit'
import { groupings, groupScore, sumUp } from './scores.ts'

const dayMs = 24 * 60 * 60 * 1000
const days = z.coerce.number().int().min(1).max(365).default(30).meta({ description: 'How far back.' })

const reviewed = z.object({
  id: z.string(),
  trace_id: z.string(),
  score: z.number(),
  label: z.string().nullable(),
  provider: z.string().nullable(),
  model: z.string(),
  template: z.string().nullable(),
  variant: z.string().nullable(),
  updated_at: z.string(),
})

/** Where feedback is sent. */
const place = '/api/trust/feedback'

export default defineModule({
  settings: z.strictObject({
    review_below: z.number().min(0).max(1).default(0.25).meta({
      title: 'Review',
      description:
        'Calls with a score of at most this are listed for a review. Scores are from 0 to 1: a thumb down is 0, one star 0, two stars 0.25.',
    }),
  }),

  once({ route, use }) {
    /** The bounds of the configurations; the routes take the highest. */
    const bounds = new Configurations<number>()
    const lowest = (): number => Math.max(0, ...bounds.values)

    route({
      method: 'get',
      path: '/api/modules/feedbackloop/scores',
      access: 'admin',
      summary: 'The scores of models, templates or experiment variants, by the feedback on their answers',
      query: z.strictObject({ by: z.enum(groupings).default('model'), days }),
      returns: z.object({ by: z.enum(groupings), since: z.string(), scores: z.array(groupScore) }),
      async handle({ query: { by, days } }) {
        const from = Date.now() - days * dayMs
        const scores = await sumUp(use(Feedback).scan(from), by, lowest())
        return { by, since: new Date(from).toISOString(), scores }
      },
    })

    route({
      method: 'get',
      path: '/api/modules/feedbackloop/review',
      access: 'admin',
      summary: 'Calls that were rated low',
      query: listQuery,
      returns: listOf('calls', reviewed),
      async handle({ query }) {
        const page = await storedPage(query, (window) => use(Feedback).low(lowest(), window))
        const items = page.items.map(({ score, label, provider, template, variant, ...rest }) => ({
          ...rest,
          score: score ?? 0,
          label: label ?? null,
          provider: provider ?? null,
          template: template ?? null,
          variant: variant ?? null,
        }))
        return listed('calls', { ...page, items }, query)
      },
    })

    return bounds
  },

  setup({ id, settings, mode, own }, bounds) {
    if (mode === 'enforce') own(bounds.add(id, settings.review_below))
    return {
      request({ trace }) {
        trace.header('X-Feedback-Url', place)
        return undefined
      },
    }
  },
})
