import { z } from 'zod'
import { hooksOf, type Placement, type Plugin, type Registry } from '#kernel'
import { jsonSchemaOf } from '#kit'

/** Figures of a module, or of one of its bindings. */
export const statsShape = z.object({
  calls: z.int(),
  errors: z.int(),
  refusals: z.int(),
  p50_us: z.number(),
  p99_us: z.number(),
})

/** A module as the management API shows it. Optional fields are for admins only. */
export const moduleItem = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  category: z.string().meta({ description: 'Its stage in the chain.' }),
  enabled: z.boolean(),
  state: z.enum(['active', 'tripped', 'disabled', 'waiting', 'failed', 'invalid']),
  priority: z
    .int()
    .meta({ description: 'Position among all modules; smaller is further out. 0 if it has none.' }),
  in_chain: z.boolean().meta({ description: 'Whether it currently acts on calls.' }),
  mode: z
    .enum(['enforce', 'shadow'])
    .meta({ description: 'In shadow the module records what it would do, and changes nothing.' }),
  isolation: z
    .enum(['inproc', 'worker'])
    .meta({ description: "Where it runs: in the gateway's process, or in a worker." }),
  failure: z
    .enum(['open', 'closed'])
    .meta({ description: 'What happens to calls if the module fails: they pass or are refused.' }),
  version: z.string(),
  source: z.enum(['builtin', 'local', 'package']),
  config: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'Settings from the file and from runtime changes.' }),
  when: z.unknown().optional().meta({ description: 'The calls that it applies to; null for all.' }),
  order: z
    .int()
    .optional()
    .meta({ description: 'Order within the stage that an operator has set; 0 by default.' }),
  problem: z
    .string()
    .nullish()
    .meta({ description: 'Why it does not run, or why the last change was refused.' }),
  stats: statsShape
    .optional()
    .meta({ description: 'Since the start or the last reset. Durations are for one run of a hook.' }),
  warnings: z.array(z.string()).optional(),
  updated_at: z.string().nullable().optional().meta({ description: 'Time of its last change at runtime.' }),
})

/** One module with everything about its settings. */
export const moduleDetail = moduleItem.extend({
  bindings: z.array(z.string()).optional().meta({ description: 'Names of its bindings.' }),
  config_effective: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'Effective settings: those that were set, and defaults for the rest.' }),
  config_schema: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'JSON Schema of the settings.' }),
})

export type ModuleItem = z.infer<typeof moduleItem>
export type ModuleDetail = z.infer<typeof moduleDetail>

/** The modules and their bindings in chain order, without the areas between them. */
export const modulePlaces = ({ places }: Registry): Placement[] =>
  places.filter(({ manifest }) => manifest.kind === 'module')

/** All modules in chain order; folders whose manifest cannot be read come last, so that they are seen. */
export function modulesOf(registry: Registry): Plugin[] {
  const unreadable = registry.plugins.filter(({ manifest }) => !manifest)
  const modules = modulePlaces(registry).map(({ plugin }) => plugin)
  return [...modules.filter(({ binding }) => !binding), ...unreadable]
}

/** Projects modules for a caller; one for many, so that the order is computed once. */
export function itemsOf(registry: Registry, isAdmin: boolean): (plugin: Plugin) => ModuleItem {
  const places = new Map(
    modulePlaces(registry).map((place, i) => [place.plugin.id, { place, priority: i + 1 }]),
  )
  const working = new Set(
    registry.generation.entries.filter(({ hooks }) => hooksOf(hooks).length > 0).map(({ id }) => id),
  )
  return (plugin) => {
    const placed = places.get(plugin.id)
    const item = publicItem(registry, plugin, placed?.place)
    item.priority = placed?.priority ?? 0
    item.in_chain = working.has(plugin.id)
    return isAdmin ? { ...item, ...privateFields(plugin, item) } : item
  }
}

/** A module with its settings, their defaults and their schema, which may have to be imported first. */
export async function detailOf(registry: Registry, plugin: Plugin, isAdmin: boolean): Promise<ModuleDetail> {
  const item = itemsOf(registry, isAdmin)(plugin)
  if (!isAdmin) return item
  const schema = await registry.schema(plugin).catch(() => undefined)
  if (!schema) return item
  const parsed = schema.safeParse(plugin.setting?.config ?? {})
  const config_schema = jsonSchemaOf(schema)
  return {
    ...item,
    bindings: registry.bindings(plugin.id).flatMap(({ binding }) => binding?.name ?? []),
    ...(parsed.success && { config_effective: parsed.data as Record<string, unknown> }),
    ...(config_schema && { config_schema }),
  }
}

function publicItem(registry: Registry, plugin: Plugin, place?: Placement): ModuleItem {
  const { id, found, manifest, setting } = plugin
  return {
    name: id,
    title: manifest?.title ?? id,
    description: manifest?.description ?? 'Its manifest cannot be read.',
    category: place?.manifest.stage ?? 'unknown',
    enabled: setting?.enabled ?? false,
    state: registry.stateOf(plugin),
    priority: 0,
    in_chain: false,
    mode: setting?.mode ?? 'enforce',
    isolation: setting?.isolation ?? (manifest?.kind === 'module' ? manifest.isolation : 'inproc'),
    failure: place?.manifest.failure ?? 'open',
    version: manifest?.version ?? '0.0.0',
    source: found.source,
  }
}

function privateFields(plugin: Plugin, item: ModuleItem): Partial<ModuleItem> {
  const { setting, stored, meter } = plugin
  const lacks = plugin.instance?.lacks
  const problem = item.state === 'tripped' ? meter.circuit.reason : plugin.problem
  return {
    config: { ...setting?.config },
    when: setting?.when ?? null,
    order: setting?.order ?? 0,
    problem: problem ?? lacks ?? null,
    stats: statsOf(meter),
    warnings: warningsOf(item, problem, lacks),
    updated_at: stored?.updated_at ?? null,
  }
}

/** The counts of a meter. */
export function statsOf(meter: Plugin['meter']): z.infer<typeof statsShape> {
  return {
    calls: meter.calls,
    errors: meter.errors,
    refusals: meter.refusals,
    p50_us: meter.quantileUs(0.5),
    p99_us: meter.quantileUs(0.99),
  }
}

function warningsOf(
  { enabled, state, in_chain, failure }: ModuleItem,
  problem: string | undefined,
  lacks: string | undefined,
): string[] {
  if (!enabled) return []
  if (state === 'active') {
    if (problem) return [`The last change was refused: ${problem}`]
    if (lacks) return [`It runs, and lacks something that it needs: ${lacks}`]
    return in_chain ? [] : ['It is on, but with these settings it has nothing to do.']
  }
  if (state === 'tripped') {
    const effect = failure === 'closed' ? 'calls are refused' : 'calls pass without it'
    return [
      `It kept failing and is left out for now (${problem}): ${effect}. Reconfigure it to try again at once.`,
    ]
  }
  const effect = failure === 'closed' ? 'calls are refused until it does' : 'calls pass without it'
  return [`It is on and does not run (${problem ?? state}): ${effect}.`]
}
