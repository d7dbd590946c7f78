import { z } from 'zod'
import { badRequest, type Context, kernelServices } from '#kernel'
import { filled, valuesOf } from '../content.ts'
import { type Installed, type Installs, onConflicts } from '../installs.ts'
import { demandNeeds, needsOf, permissionsOf } from '../needs.ts'
import type { Packs } from '../packs.ts'
import { variableValue, version } from '../shapes.ts'
import { warningsOf } from '../warnings.ts'
import { params } from './packs.ts'

const counts = z.record(z.string(), z.int())
const changeItem = z.object({
  section: z.string(),
  key: z.string(),
  action: z.enum(['create', 'update', 'unchanged', 'conflict']).meta({
    description: 'Conflict: somebody else has set the key, or has changed it since the pack was installed.',
  }),
  before: z.unknown(),
  after: z.unknown(),
})

/** Looking at what a pack would change, and installing it. */
export function addInstallRoutes(context: Context<unknown>, packs: Packs, installs: Installs): void {
  const { route, use } = context
  const secrets = () => use(kernelServices.config).secrets

  route({
    method: 'get',
    path: '/api/exchange/packs/{slug}/preview',
    access: 'admin',
    summary: 'What an install of a pack would change, with the defaults of its variables',
    params,
    query: z.strictObject({ version: version.optional() }),
    returns: z.object({
      slug: z.string(),
      version: z.string(),
      changes: z.array(changeItem),
      modules: z.array(z.object({ name: z.string(), enabled: z.boolean().nullable(), action: z.string() })),
      unmet: z.array(z.string()).meta({ description: 'What it requires and is not here.' }),
      missing_secrets: z.array(z.string()),
      missing_variables: z.array(z.string()).meta({
        description:
          'Variables without a default. Changes are listed once there are none; try an install with dry_run.',
      }),
      permissions: z.array(z.string()).meta({ description: 'Of the plugins that it sets.' }),
      warnings: z.array(z.string()),
    }),
    throws: [404, 409],
    async handle({ params: { slug }, query, ...by }) {
      const chosen = await packs.version(slug, query.version)
      const { values, missing } = valuesOf(chosen, {})
      const needs = needsOf(chosen, context)
      const permissions = permissionsOf(chosen, use(kernelServices.registry))
      const base = { slug, version: chosen.version, ...needs, missing_variables: missing, permissions }
      if (missing.length > 0) return { ...base, changes: [], modules: [], warnings: [] }
      const content = filled(chosen.content, values, secrets())
      const { actions } = await installs.install(chosen, content, {
        actor: { ...by, force: true },
        isTrial: true,
        onConflict: 'overwrite',
      })
      const named = new Set(actions.map(({ section, key }) => `${section}.${key}`))
      const unchanged = Object.entries(content).flatMap(([section, forms]) =>
        Object.entries(forms)
          .filter(([key]) => !named.has(`${section}.${key}`))
          .map(([key]) => ({ section, key, action: 'unchanged' as const, before: null, after: null })),
      )
      const modules = actions
        .filter(({ section }) => section === 'modules' || section === 'bindings')
        .map(({ key, action, after }) => ({
          name: key,
          enabled: (after as { enabled?: boolean } | null)?.enabled ?? null,
          action,
        }))
      return { ...base, changes: [...actions, ...unchanged], modules, warnings: warningsOf(actions) }
    },
  })

  route({
    method: 'post',
    path: '/api/exchange/packs/{slug}/install',
    access: 'admin',
    summary: 'Install a version of a pack, or move to it from another, as one generation or not at all',
    params,
    body: z.strictObject({
      version: version.optional().meta({ description: 'The latest by default.' }),
      on_conflict: z.enum(onConflicts).default('fail').meta({
        description:
          'What to do about keys that others have set: refuse the install, leave them, or set them.',
      }),
      variables: z.record(z.string().max(64), variableValue).default({}),
      dry_run: z.boolean().default(false),
      if_generation: z.int().min(0).optional(),
      force: z.boolean().optional().meta({
        description: 'Install even if it shuts out the address and key it comes from.',
      }),
    }),
    returns: z.object({
      id: z.string().nullable(),
      status: z.enum(['installed', 'partial', 'dry_run']),
      slug: z.string(),
      version: z.string(),
      applied: counts,
      skipped: counts,
      generation: z.int(),
      warnings: z.array(z.string()),
      installed_at: z.string().meta({ format: 'date-time' }).nullable(),
    }),
    throws: [404, 409],
    async handle({ params: { slug }, body, ...by }) {
      const { dry_run: isTrial, on_conflict: onConflict, force, if_generation: ifGeneration } = body
      const chosen = await packs.version(slug, body.version)
      const { values, missing } = valuesOf(chosen, body.variables)
      const [first] = missing
      if (first !== undefined)
        throw badRequest(`Give values for the variables ${missing.join(', ')}.`, {
          param: `variables.${first}`,
        })
      demandNeeds(needsOf(chosen, context))
      const content = filled(chosen.content, values, secrets())
      const actor = { ...by, force, ifGeneration }
      const done = await installs.install(chosen, content, { actor, isTrial, onConflict })
      if (!isTrial) await packs.count(slug)
      return { ...outcomeOf(done, isTrial), slug, version: chosen.version }
    },
  })
}

const outcomeOf = ({ row, skipped, applied, actions }: Installed, isTrial: boolean) => ({
  id: isTrial ? null : row.id,
  status: isTrial ? ('dry_run' as const) : skipped.length > 0 ? ('partial' as const) : ('installed' as const),
  applied: countsOf(applied.changes),
  skipped: countsOf(skipped),
  generation: applied.after.generation,
  warnings: warningsOf(actions),
  installed_at: isTrial ? null : row.updated_at,
})

function countsOf(all: readonly { readonly section: string }[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { section } of all) sums[section] = (sums[section] ?? 0) + 1
  return sums
}
