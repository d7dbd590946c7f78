import { z } from 'zod'
import type { Context } from '#kernel'
import { itemOf, runDetail } from '../runs/row.ts'
import type { ShownRuns } from '../runs/shown.ts'
import { delta, deltaOf, efficiencyOf, winners, winnersOf } from './winners.ts'
import { diffPart, wordDiff } from './word-diff.ts'

const side = runDetail.shape.source.extend({
  efficiency: z.number().nullable().meta({ description: 'Output tokens for each dollar and second.' }),
})

const comparison = z.object({
  id: z.string(),
  status: runDetail.shape.status,
  comparison: z.object({ left: side, right: side }),
  winners,
  delta,
  quality: runDetail.shape.quality,
  diff: z.array(diffPart).nullable().meta({
    description:
      'How the left answer becomes the right one, word by word; null where one of them is not stored.',
  }),
})

/** A run side by side. */
export function addCompareRoute({ route }: Pick<Context<unknown>, 'route'>, shownRuns: ShownRuns): void {
  route({
    method: 'get',
    path: '/api/replay/compare/{id}',
    access: 'any',
    summary: 'A run side by side: the past call on the left, the new one on the right',
    params: z.strictObject({ id: z.string().min(1).max(100) }),
    returns: comparison,
    throws: [403, 404],
    async handle({ params, principal }) {
      const row = await shownRuns.find(params.id, principal)
      const { source, target } = await shownRuns.said(row)
      const { id, status, quality } = itemOf(row)
      return {
        id,
        status,
        comparison: {
          left: { ...row.source, response: source, efficiency: efficiencyOf(row.source) },
          right: { ...row.target, response: target, efficiency: efficiencyOf(row.target) },
        },
        winners: winnersOf(row),
        delta: deltaOf(row),
        quality,
        diff: source === null || target === null ? null : await wordDiff(source, target),
      }
    },
  })
}
