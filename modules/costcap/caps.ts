import { z } from 'zod'
import { type Call, type Cap, type CapScope, capActions } from '#kernel'
import { byName, nanoOf, timezoneSchema } from '#kit'

const usd = z.number().min(0).max(1_000_000)

/** One cap for each holder, or caps by name or glob. */
const eachOrNamed = z.union([usd, z.record(z.string().min(1), usd)])

const holders = {
  user: eachOrNamed.optional().meta({ title: 'User', description: 'For each user, or by user id.' }),
  key: eachOrNamed.optional().meta({ title: 'Key', description: 'For each key, or by key id.' }),
  project: eachOrNamed
    .optional()
    .meta({ title: 'Project', description: 'For each project, or by name or glob.' }),
  tenant: eachOrNamed.optional().meta({ title: 'Tenant', description: 'For each tenant, or by tenant id.' }),
  service: usd.optional().meta({ title: 'Service', description: 'For all calls together.' }),
}

export const settings = z.strictObject({
  daily_usd: z.strictObject(holders).prefault({}).meta({
    title: 'Daily caps',
    description: 'Most USD in a day.',
  }),
  monthly_usd: z.strictObject(holders).prefault({}).meta({
    title: 'Monthly caps',
    description: 'Most USD in a month.',
  }),
  max_call_usd: z.number().positive().max(100_000).optional().meta({
    title: 'One call',
    description: 'Highest estimated cost of one call in USD; no limit if absent.',
  }),
  action: z
    .enum(capActions)
    .default('block')
    .meta({
      title: 'Action',
      description:
        'What happens at a cap: `block` refuses calls, `warn` lets them pass and sends events, `downgrade` lets `tierdrop` ' +
        'send them to cheaper models and refuses those that have none.',
    }),
  notify_at: z.array(z.number().gt(0).max(1000)).max(20).default([50, 80, 100]).meta({
    title: 'Notify at',
    description: 'Percentages of a cap at which `cost.threshold` is sent, each once a period.',
  }),
  timezone: timezoneSchema
    .default('UTC')
    .meta({ title: 'Time zone', description: 'Where days and months begin.' }),
  own_keys: z.boolean().default(true).meta({
    title: "Users' own keys",
    description: 'Whether calls with provider keys of their users count.',
  }),
})

export type Settings = z.infer<typeof settings>

const periods = { daily: 'daily_usd', monthly: 'monthly_usd' } as const

/** The caps of the settings that a call falls under; undefined when there are none at all. */
export function compileCaps(settings: Settings): ((call: Call) => Cap[]) | undefined {
  const shared = {
    timezone: settings.timezone,
    action: settings.action,
    notifyAt: settings.notify_at,
    ownKeys: settings.own_keys,
  }
  const rules = (['daily', 'monthly'] as const).flatMap((period) =>
    Object.entries(settings[periods[period]]).flatMap(([scope, most]) =>
      most === undefined ? [] : [{ period, scope: scope as CapScope, mostOf: mostBy(most) }],
    ),
  )
  if (rules.length === 0) return undefined
  return (call) =>
    rules.flatMap(({ period, scope, mostOf }) => {
      const holder = holderOf(scope, call)
      const most = holder && mostOf(holder.name)
      if (!holder || most === undefined) return []
      return [{ ...shared, period, scope, holder: holder.id, mostNano: nanoOf(most) }]
    })
}

function mostBy(most: number | Readonly<Record<string, number>>): (name: string) => number | undefined {
  return typeof most === 'number' ? () => most : byName(most)
}

/** Admin keys have no user, and so no cap by user. Projects of two tenants may have one name, and share no cap. */
function holderOf(
  scope: CapScope,
  { principal: { userId, keyId, tenant }, context: { project } }: Call,
): { readonly id: string; readonly name: string } | undefined {
  const named = (id: string | undefined) => (id === undefined ? undefined : { id, name: id })
  if (scope === 'user') return named(userId)
  if (scope === 'key') return named(keyId)
  if (scope === 'tenant') return named(tenant)
  if (scope === 'service') return named('')
  return { id: tenant === undefined ? project : JSON.stringify([tenant, project]), name: project }
}
