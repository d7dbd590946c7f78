import type { Context } from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import type { Ranking } from '../routing/ranking.ts'
import { scoreItem, scoreItemOf } from './item.ts'

/** To see how models did in their last calibration. */
export function addScoreRoute(
  { route, find }: Pick<Context<unknown>, 'route' | 'find'>,
  ranking: Ranking,
): void {
  route({
    method: 'get',
    path: '/api/autopilot/scores',
    access: 'admin',
    summary:
      'The models with their quality, cost and time, those that qualify first, the cheapest of them at the top',
    query: listQuery,
    returns: listOf('scores', scoreItem),
    handle({ query }) {
      const items = ranking.now.standings.map((standing) => scoreItemOf(find, standing))
      const cost = ({ avg_cost_usd: usd }: (typeof items)[number]): number => usd ?? Number.POSITIVE_INFINITY
      items.sort((a, b) => Number(b.qualifies) - Number(a.qualifies) || cost(a) - cost(b) || 0)
      return listed(
        'scores',
        pageOf(items, query, ({ model }) => model),
        query,
      )
    },
  })
}
