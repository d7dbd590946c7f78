import { z } from 'zod'
import { type Actor, badRequest, type Context, isGatewayError, kernelServices, type Registry } from '#kernel'
import { modulesOf } from './module-item.ts'
import { forceField, ifGenerationField } from './modules.ts'

const bulkBody = z
  .strictObject({
    modules: z.array(z.string()).min(1).max(500).optional().meta({ description: 'Names of modules.' }),
    category: z.string().optional().meta({ description: 'Instead of names, a stage: all its modules.' }),
    enabled: z.boolean(),
    config: z
      .record(z.string(), z.unknown())
      .nullable()
      .optional()
      .meta({ description: 'Settings for each module; null clears all.' }),
    force: forceField,
    if_generation: ifGenerationField,
  })
  .meta({ oneOf: [{ required: ['modules'] }, { required: ['category'] }] })

const result = z.object({
  name: z.string(),
  status: z.enum(['ok', 'failed']),
  state: z.string().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
})

/** Toggles several modules. Each of them changes wholly or not at all; the results name those that could not. */
export function addBulkRoute({ route, use }: Context<unknown>): void {
  route({
    method: 'post',
    path: '/api/proxy/modules/bulk',
    access: 'admin',
    summary: 'Toggle several modules, by name or by category',
    body: bulkBody,
    returns: z.object({
      status: z.enum(['ok', 'partial', 'failed']),
      affected: z.int().meta({ description: 'Number of changed modules.' }),
      enabled: z.boolean(),
      results: z.array(result),
    }),
    throws: [409],
    async handle({ body, ...by }) {
      const registry = use(kernelServices.registry)
      const { enabled, config, force, if_generation: base } = body
      const results: z.infer<typeof result>[] = []
      for (const name of namesOf(body, registry)) {
        // Once one has changed, the others are about what it has left.
        const isFirst = results.every(({ status }) => status === 'failed')
        const actor = { ...by, force, ifGeneration: isFirst ? base : undefined }
        results.push(
          await changed(registry, name, config === undefined ? { enabled } : { enabled, config }, actor),
        )
      }
      const affected = results.filter(({ status }) => status === 'ok').length
      const status = affected === results.length ? 'ok' : affected > 0 ? 'partial' : 'failed'
      return { status, affected, enabled, results } as const
    },
  })
}

function namesOf({ modules, category }: z.infer<typeof bulkBody>, registry: Registry): string[] {
  if ((modules === undefined) === (category === undefined)) {
    throw badRequest('Name the modules: send either modules or category.', { param: 'modules' })
  }
  if (modules) return [...new Set(modules)]
  const names = modulesOf(registry).flatMap(({ id, manifest }) =>
    manifest?.kind === 'module' && manifest.stage === category ? [id] : [],
  )
  if (names.length === 0)
    throw badRequest(`There are no modules of the category ${category}.`, { param: 'category' })
  return names
}

async function changed(
  registry: Registry,
  name: string,
  change: Parameters<Registry['change']>[1],
  actor: Actor,
) {
  try {
    const plugin = await registry.change(registry.get(name, 'module').id, change, actor)
    return { name, status: 'ok' as const, state: registry.stateOf(plugin) }
  } catch (error) {
    if (!isGatewayError(error) || error.param === 'if_generation') throw error
    return { name, status: 'failed' as const, error: { code: error.code, message: error.message } }
  }
}
