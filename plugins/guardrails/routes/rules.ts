import { z } from 'zod'
import { badRequest, type Context, newId, notFound } from '#kernel'
import { changed, guardrailPresets, guardrailRule, listed, listOf, listQuery, storedPage, Writes } from '#kit'
import { typeOf } from '../compile.ts'
import { mostRules, type Rules } from '../rules.ts'
import { type RuleRow, ruleChange, ruleItem } from '../shapes.ts'
import type { Violations } from '../violations.ts'

const path = '/api/guardrails/{id}'
const params = z.strictObject({ id: z.string().max(100) })

const preset = z.object({
  name: z.string(),
  type: z.string(),
  description: z.string(),
  pattern: z.string(),
  flags: z.string(),
  max_length: z.int(),
  checked: z.boolean().meta({ description: 'Whether check digits or forbidden numbers are looked at, too.' }),
})

/** To list, create, change and delete rules, for admins. A change is in the configuration's history. */
export function addRuleRoutes(
  { route }: Pick<Context<unknown>, 'route'>,
  rules: Rules,
  violations: Violations,
): void {
  // A change is made of what a rule is: of two at once the later sees what the earlier has made.
  const changes = new Writes()
  const itemOf = async (row: RuleRow) => ({ ...row, ...(await violations.hitsOf(row.id)) })
  async function rowOf(id: string): Promise<RuleRow> {
    const row = await rules.rows.get(id)
    if (!row) throw notFound(`There is no guardrail rule ${id}.`, { param: 'id' })
    return row
  }

  route({
    method: 'get',
    path: '/api/guardrails',
    access: 'admin',
    summary: 'The guardrail rules; with a project, those of this project alone',
    query: listQuery.extend({ project: z.string().optional() }),
    returns: listOf('rules', ruleItem),
    async handle({ query }) {
      const { project } = query
      const of = project === undefined ? {} : { index: 'project', equals: project }
      const { items, ...page } = await storedPage(query, (window) => rules.rows.list({ ...of, ...window }))
      const shown = await Promise.all(items.map(itemOf))
      return listed('rules', { ...page, items: shown }, query)
    },
  })

  route({
    method: 'post',
    path: '/api/guardrails',
    access: 'admin',
    summary: 'Add a guardrail rule; it holds for the next call',
    body: guardrailRule,
    status: 201,
    returns: ruleItem,
    throws: [409],
    async handle(input) {
      if (rules.size >= mostRules)
        throw badRequest(`There are ${mostRules} rules; delete some first.`, { param: 'name' })
      const id = newId('gr_')
      const now = new Date().toISOString()
      const row = {
        id,
        ...input.body,
        type: typeOf(input.body),
        version: 1,
        created_at: now,
        updated_at: now,
      }
      await rules.set(id, row, input)
      return itemOf(row)
    },
  })

  route({
    method: 'get',
    path: '/api/guardrails/presets',
    access: 'admin',
    summary: 'The ready-made patterns',
    returns: z.object({ presets: z.array(preset) }),
    handle: () => ({
      presets: Object.entries(guardrailPresets).map(([name, { holds, ...shown }]) => ({
        name,
        ...shown,
        checked: holds !== undefined,
      })),
    }),
  })

  route({
    method: 'get',
    path,
    access: 'admin',
    summary: 'Show a guardrail rule',
    params,
    returns: ruleItem,
    throws: [404],
    handle: async ({ params: { id } }) => itemOf(await rowOf(id)),
  })

  route({
    method: 'put',
    path,
    access: 'admin',
    summary: 'Change a guardrail rule; null clears a field',
    params,
    body: ruleChange,
    returns: ruleItem,
    throws: [404, 409],
    handle(input) {
      const { id } = input.params
      return changes.run(id, async () => {
        const row = rowAfter(await rowOf(id), input.body)
        await rules.set(id, row, input)
        return itemOf(row)
      })
    },
  })

  route({
    method: 'delete',
    path,
    access: 'admin',
    summary: 'Delete a guardrail rule; what it found stays in the log',
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [404, 409],
    handle(input) {
      const { id } = input.params
      return changes.run(id, async () => {
        await rowOf(id)
        await rules.set(id, undefined, input)
        return { deleted: true as const, id }
      })
    },
  })
}

const sources = ['pattern', 'preset', 'words'] as const

/** The row after a change. A pattern takes the place of words or a preset, and the other way round. */
function rowAfter(row: RuleRow, change: z.infer<typeof ruleChange>): RuleRow {
  const { id, version, created_at, updated_at: _, ...before } = row
  if (sources.some((source) => change[source] != null)) for (const source of sources) delete before[source]
  const rule = changed(before, change, guardrailRule)
  return {
    ...rule,
    id,
    type: rule.type ?? row.type,
    version: version + 1,
    created_at,
    updated_at: new Date().toISOString(),
  }
}
