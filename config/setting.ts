import { z } from 'zod'
import { whenSchema } from '../kit/calls/when.ts'

/** The settings that every plugin has for the operator, apart from the plugin's own. */
export const settingFields = {
  enabled: z.boolean().optional(),
  config: z.record(z.string(), z.unknown()).nullable().optional(),
  when: whenSchema.nullable().optional(),
  isolation: z.enum(['inproc', 'worker']).nullable().optional(),
  order: z.int().min(-1000).max(1000).nullable().optional(),
  mode: z.enum(['enforce', 'shadow']).nullable().optional(),
}

export const settingChange = z.strictObject(settingFields)
/** Absent fields stay as they are; null clears, also inside `config`. */
export type SettingChange = z.infer<typeof settingChange>

/** A runtime change as stored: it outweighs the configuration file for what it names. */
export const storedSetting = z.object({
  ...settingFields,
  config: z.record(z.string(), z.unknown()).optional(),
  /** Of the plugin, when its `config` was stored. */
  version: z.string().optional(),
  /** The `config` that the present one was carried over from, for the day its version comes back. */
  before: z.object({ version: z.string(), config: z.record(z.string(), z.unknown()) }).optional(),
  updated_at: z.string(),
})
export type StoredSetting = z.infer<typeof storedSetting>

/** The effective setting of a plugin, from all sources together. */
export interface Setting {
  readonly enabled: boolean
  /** Like `enabled`, but for a binding also while its module is off. */
  readonly wanted: boolean
  /** Whether the operator said so, and not the manifest alone. */
  readonly asked: boolean
  readonly config: Readonly<Record<string, unknown>>
  readonly when: z.infer<typeof whenSchema> | undefined
  readonly order: number
  /** In shadow it runs and says what it would do, and does nothing. */
  readonly mode: 'enforce' | 'shadow'
  /** Where it runs; the manifest says it where the operator does not. */
  readonly isolation?: 'inproc' | 'worker'
}

/** What holds where nothing is said. */
interface Defaults {
  readonly enabled: boolean
  readonly order?: number
}

/** The manifest's default, that it was installed, then the configuration file, then what was changed at runtime. */
export function effective(defaults: Defaults, ...layers: readonly (SettingChange | undefined)[]): Setting {
  const said = layers.filter((layer) => layer !== undefined)
  const last = <K extends keyof SettingChange>(key: K): SettingChange[K] =>
    said.findLast((layer) => layer[key] !== undefined)?.[key]
  const config: Record<string, unknown> = Object.assign({}, ...said.map((layer) => layer.config ?? {}))
  for (const key in config) if (config[key] === null) delete config[key]
  const enabled = last('enabled') ?? defaults.enabled
  const isolation = last('isolation')
  return {
    enabled,
    wanted: enabled,
    asked: last('enabled') !== undefined,
    config,
    when: last('when') ?? undefined,
    order: last('order') ?? defaults.order ?? 0,
    mode: last('mode') ?? 'enforce',
    ...(isolation && { isolation }),
  }
}

/** A stored setting with a change on top. `setting` is what holds until then, which `config: null` clears; `version` the plugin's. */
export function changed(
  stored: StoredSetting | undefined,
  change: SettingChange,
  { setting, version }: Pick<StoredSetting, 'version'> & { readonly setting?: Setting | undefined } = {},
): StoredSetting {
  const { config, ...rest } = change
  const next: StoredSetting = { ...stored, updated_at: new Date().toISOString() }
  for (const [key, value] of Object.entries(rest))
    if (value !== undefined) Object.assign(next, { [key]: value })
  const had = { ...setting?.config, ...stored?.config }
  if (config === null) next.config = Object.fromEntries(Object.keys(had).map((key) => [key, null]))
  else if (config) next.config = { ...stored?.config, ...config }
  if (config !== undefined && version !== undefined) next.version = version
  return next
}
