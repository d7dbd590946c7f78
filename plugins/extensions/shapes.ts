import { z } from 'zod'
import type { Plugin, Registry } from '#kernel'
import { jsonSchemaOf } from '#kit'

/** Path parameter of every route about one plugin. */
export const pluginParams = z.strictObject({ name: z.string() })

/** A plugin as the management API shows it. */
export const pluginItem = z.object({
  name: z.string(),
  kind: z.enum(['module', 'area', 'provider', 'unknown']).meta({
    description: 'Kind of plugin; unknown if its manifest cannot be read.',
  }),
  title: z.string(),
  description: z.string(),
  version: z.string(),
  api: z
    .string()
    .nullable()
    .meta({ description: 'Versions of the contract that it runs with, from its manifest.' }),
  source: z.enum(['builtin', 'local', 'package']),
  enabled: z.boolean(),
  state: z.enum(['active', 'tripped', 'disabled', 'waiting', 'failed', 'invalid']),
  problem: z
    .string()
    .nullable()
    .meta({ description: 'Why it does not run, or why its last change was refused.' }),
  content: z
    .string()
    .nullable()
    .meta({ description: 'Hash of the content that runs; null for built-in plugins.' }),
  requires: z.array(z.string()),
  permissions: z.array(z.string()),
  updated_at: z.string().nullable().meta({ description: 'Time of its last change at runtime.' }),
})

/** One plugin with its settings. */
export const pluginDetail = pluginItem.extend({
  folder: z.string().nullable().meta({ description: 'Its folder; null for built-in plugins.' }),
  config: z
    .record(z.string(), z.unknown())
    .meta({ description: 'Settings from the file and from runtime changes.' }),
  config_schema: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'JSON Schema of the settings; absent for a plugin without code.' }),
  routes: z.array(z.string()).meta({ description: 'Routes and wires that it adds.' }),
})

/** A plugin as the list shows it. */
export function itemOf(registry: Registry, plugin: Plugin): z.infer<typeof pluginItem> {
  const { id, found, manifest, setting, stored, meter } = plugin
  const state = registry.stateOf(plugin)
  const problem = state === 'tripped' ? meter.circuit.reason : plugin.problem
  return {
    name: id,
    kind: manifest?.kind ?? 'unknown',
    title: manifest?.title ?? id,
    description: manifest?.description ?? 'Its manifest cannot be read.',
    version: manifest?.version ?? '0.0.0',
    api: manifest?.api ?? null,
    source: found.source,
    enabled: setting?.enabled ?? false,
    state,
    problem: problem ?? null,
    content: found.staged?.content ?? null,
    requires: [...(manifest?.requires ?? [])],
    permissions: [...(manifest?.permissions ?? [])],
    updated_at: stored?.updated_at ?? null,
  }
}

/** A plugin with its settings and what it adds; its code may have to be imported for that. */
export async function detailOf(registry: Registry, plugin: Plugin): Promise<z.infer<typeof pluginDetail>> {
  const { found, setting, instance } = plugin
  const schema = await registry.schema(plugin).catch(() => undefined)
  const config_schema = schema && jsonSchemaOf(schema)
  const offering = instance ? [...(instance.once ? [instance.once.instance] : []), instance] : []
  const routes = offering
    .flatMap((one) => one.routes)
    .map(({ method, path }) => `${method.toUpperCase()} ${path}`)
  const wires = offering
    .flatMap((one) => one.wires)
    .flatMap(({ path, aliases = [] }) => [path, ...aliases].map((at) => `POST ${at}`))
  return {
    ...itemOf(registry, plugin),
    folder: found.source === 'builtin' ? null : found.folder,
    config: { ...setting?.config },
    ...(config_schema && { config_schema }),
    routes: [...routes, ...wires],
  }
}
