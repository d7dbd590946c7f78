import { z } from 'zod'
import { badRequest, type Context } from '#kernel'
import { listed, listOf, listQuery, storedPage, Writes } from '#kit'
import { changedRule, ruleOf } from '../given.ts'
import { ruleChange, ruleInput } from '../input.ts'
import { mostRules, type Rules } from '../rules.ts'
import { ruleItem, ruleItemOf, type Standings } from '../view.ts'

export const path = '/api/observe/alerts'
export const params = z.strictObject({ id: z.string().max(100) })

/** To list, create, change and delete alert rules, for admins. A change is in the configuration's history. */
export function addRuleRoutes(context: Context<unknown>, rules: Rules, standings: Standings): void {
  const { route } = context
  // A change is made of what a rule is: of two at once the later sees what the earlier has made.
  const changes = new Writes()

  route({
    method: 'get',
    path,
    access: 'admin',
    summary: 'The alert rules, and how they stand',
    query: listQuery,
    returns: listOf('alerts', ruleItem),
    async handle({ query }) {
      const { items, ...page } = await storedPage(query, (window) => rules.rows.list(window))
      const shown = await Promise.all(items.map((row) => ruleItemOf(row, standings)))
      return listed('alerts', { ...page, items: shown }, query)
    },
  })

  route({
    method: 'post',
    path,
    access: 'admin',
    summary: 'Add an alert rule; calls of before count in its window, too',
    body: ruleInput,
    status: 201,
    returns: ruleItem,
    throws: [409],
    async handle(input) {
      if ((await rules.rows.count()) >= mostRules)
        throw badRequest(`There are ${mostRules} alert rules; delete some first.`, { param: 'name' })
      const row = await ruleOf(context, input.body)
      await rules.set(row.id, row, input)
      return ruleItemOf(row, standings)
    },
  })

  route({
    method: 'get',
    path: `${path}/{id}`,
    access: 'admin',
    summary: 'One alert rule',
    params,
    returns: ruleItem,
    handle: async ({ params: { id } }) => ruleItemOf(await rules.find(id), standings),
  })

  route({
    method: 'put',
    path: `${path}/{id}`,
    access: 'admin',
    summary: 'Change an alert rule; what is absent stays',
    params,
    body: ruleChange,
    returns: ruleItem,
    throws: [409],
    handle(input) {
      const { id } = input.params
      return changes.run(id, async () => {
        const row = await changedRule(context, await rules.find(id), input.body)
        await rules.set(id, row, input)
        return ruleItemOf(row, standings)
      })
    },
  })

  route({
    method: 'delete',
    path: `${path}/{id}`,
    access: 'admin',
    summary: 'Delete an alert rule; what it fires is over, and its history stays',
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [409],
    handle(input) {
      const { id } = input.params
      return changes.run(id, async () => {
        await rules.find(id)
        await rules.set(id, undefined, input)
        await standings.silences.end(id)
        return { deleted: true as const, id }
      })
    },
  })
}
