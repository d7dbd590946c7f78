import { z } from 'zod'
import type { Context } from '#kernel'
import { listed, listOf, listQuery, pageOf, scopeOf } from '#kit'
import { insight, insightTypes } from '../insight.ts'
import type { Insights } from '../insights.ts'

const query = listQuery.extend({
  days: z.coerce.number().int().min(1).max(30).default(7).meta({ description: 'How far back, in days.' }),
  type: z.enum(insightTypes).optional(),
})

const answer = listOf('insights', insight).extend({
  days: z.int(),
  traces_analyzed: z.int(),
  bodies_analyzed: z.int().meta({ description: 'Of the traces: those whose request was read.' }),
  complete: z.boolean().meta({ description: 'Whether these were all traces of the time.' }),
  generated_at: z.string().meta({ format: 'date-time', description: 'An analysis is kept for a minute.' }),
})

/** What recent traces say: to users of their own calls, to admins of all. */
export function insightRoute({ route }: Pick<Context<unknown>, 'route'>, insights: Insights): void {
  route({
    method: 'get',
    path: '/api/insights',
    access: 'any',
    summary: 'What recent calls say of wasted money, personal data, errors and repeated prompts',
    query,
    returns: answer,
    throws: [403],
    async handle({ query: { days, type, ...page }, principal }) {
      const { all, ...about } = await insights.of(scopeOf(principal), days)
      const wanted = all.filter((one) => type === undefined || one.type === type)
      return {
        ...listed(
          'insights',
          pageOf(wanted, page, ({ id }) => id),
          page,
        ),
        days,
        ...about,
      }
    },
  })
}
