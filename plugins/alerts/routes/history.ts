import { z } from 'zod'
import { type Context, WebhookSender } from '#kernel'
import { listed, listOf, listQuery, storedPage } from '#kit'
import type { History } from '../history.ts'
import { historyItem, historyItemOf } from '../view.ts'
import { path } from './rules.ts'

/** What has fired, for admins. */
export function addHistoryRoute(
  { route, find }: Pick<Context<unknown>, 'route' | 'find'>,
  history: History,
): void {
  route({
    method: 'get',
    path: `${path}/history`,
    access: 'admin',
    summary: 'What alert rules have fired, newest first, for 90 days',
    query: listQuery.extend({
      alert_id: z.string().max(100).optional(),
      state: z.enum(['firing', 'resolved']).optional().meta({ description: 'Whether it lasts.' }),
    }),
    returns: listOf('history', historyItem),
    async handle({ query }) {
      const { alert_id: alert, state } = query
      const { items, ...page } = await storedPage(query, (window) => history.list(alert, state, window))
      const sender = find(WebhookSender)
      const shown = await Promise.all(items.map((row) => historyItemOf(row, sender)))
      return listed('history', { ...page, items: shown }, query)
    },
  })
}
