import { hash } from 'node:crypto'
import { z } from 'zod'
import { notFound, type OnceContext } from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import { type Metric, metrics } from './answer.ts'
import type { Baseline } from './baseline.ts'
import type { Baselines } from './watch.ts'

const base = '/api/modules/driftwatch/baselines'
const params = z.strictObject({ id: z.string().max(100) })

const item = z.object({
  id: z.string(),
  provider: z.string(),
  model: z.string(),
  template: z.string().nullable(),
  pinned: z
    .boolean()
    .meta({ description: 'A pinned baseline stays after a drift; others are learned anew.' }),
  status: z.enum(['learning', 'watching', 'drifted']).meta({
    description: 'Drifted: the last windows differ from a pinned baseline, which was told.',
  }),
  since: z.string().meta({ format: 'date-time' }),
  calls: z.int().meta({ description: 'All calls that were looked at.' }),
  taken: z.int().meta({ description: 'Calls of the baseline while it learns, then of the present window.' }),
  windows: z.int().meta({ description: 'Windows that were compared with it.' }),
  metrics: z.array(
    z.object({
      metric: z.enum(metrics),
      usual: z.number().meta({ description: 'The median of the baseline, or a share.' }),
      last: z.number().nullable().meta({ description: 'The same of the last window.' }),
      psi: z.number().nullable().meta({ description: 'The stability index of the last window.' }),
      over: z.boolean().meta({ description: 'Whether the last window differs. Two in a row are a drift.' }),
    }),
  ),
})

/** Models have names with slashes and spaces, which are no part of a path. */
const idOf = (name: string): string => `bl_${hash('sha256', name, 'base64url').slice(0, 20)}`

function itemOf(id: string, { row }: Baseline): z.infer<typeof item> {
  const { provider, model, template, profiles = {}, last, hasDrifted } = row
  return {
    id,
    provider,
    model,
    template: template ?? null,
    pinned: row.isPinned,
    status: row.profiles === undefined ? 'learning' : hasDrifted ? 'drifted' : 'watching',
    since: new Date(row.since).toISOString(),
    calls: row.calls,
    taken: row.taken,
    windows: row.windows,
    metrics: (Object.keys(profiles) as Metric[]).map((metric) => ({
      metric,
      usual: profiles[metric]!.usual,
      last: last[metric]?.actual ?? null,
      psi: last[metric]?.psi ?? null,
      over: last[metric]?.isOver ?? false,
    })),
  }
}

/** To see baselines, pin them and learn them anew; for admins. */
export function addRoutes({ route }: Pick<OnceContext, 'route'>, baselines: Baselines): void {
  const all = (): (readonly [id: string, baseline: Baseline])[] =>
    Array.from(baselines.entries(), ([name, baseline]) => [idOf(name), baseline] as const)

  async function change(id: string, how: (baseline: Baseline) => void) {
    const baseline = find(id)
    how(baseline)
    await baselines.flush()
    return itemOf(id, baseline)
  }

  function find(id: string): Baseline {
    const found = all().find(([other]) => other === id)
    if (!found) throw notFound(`There is no baseline ${id}.`, { param: 'id' })
    return found[1]
  }

  route({
    method: 'get',
    path: base,
    access: 'admin',
    summary: 'What the answers of models and templates were like, and whether they still are',
    query: listQuery,
    returns: listOf('baselines', item),
    handle({ query }) {
      const page = pageOf(all(), query, ([id]) => id)
      return listed('baselines', { ...page, items: page.items.map(([id, one]) => itemOf(id, one)) }, query)
    },
  })

  route({
    method: 'get',
    path: `${base}/{id}`,
    access: 'admin',
    summary: 'One baseline',
    params,
    returns: item,
    throws: [404],
    handle: ({ params: { id } }) => itemOf(id, find(id)),
  })

  route({
    method: 'put',
    path: `${base}/{id}`,
    access: 'admin',
    summary: 'Pin a baseline, so that it stays after a drift, or let it go',
    params,
    body: z.strictObject({ pinned: z.boolean() }),
    returns: item,
    throws: [404],
    handle: ({ params: { id }, body: { pinned } }) => change(id, (baseline) => baseline.pin(pinned)),
  })

  route({
    method: 'post',
    path: `${base}/{id}/reset`,
    access: 'admin',
    summary: 'Learn a baseline anew, from the next calls on',
    params,
    returns: item,
    throws: [404],
    handle: ({ params: { id } }) => change(id, (baseline) => baseline.reset()),
  })
}
