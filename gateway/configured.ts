import { z } from 'zod'
import { type Config, ConfigError, fromTexts, type SchemaNode } from '../config/config.ts'
import type { Path, Problem } from '../config/document.ts'
import { renderProblems } from '../config/lines.ts'
import { problemsAt } from '../config/owned.ts'
import { valueAt } from '../config/problems.ts'
import { readSections, type SectionOwner } from '../config/sections.ts'
import { type SettingChange, settingChange } from '../config/setting.ts'
import { load } from '../kernel/discovery/loader.ts'
import { type Discovered, setupLimit } from '../kernel/discovery/manifest.ts'
import { bindingId, bindingName } from '../kernel/plugin/plugin-record.ts'
import { jsonSchemaOf } from '../kit/json/json-schema.ts'
import { nearestHint } from '../kit/text/nearest.ts'
import { inTime } from '../kit/work/in-time.ts'

type Given = Pick<Config, 'modules' | 'sections' | 'source' | 'plugins'>

/** A place in the file that configures a plugin or a binding. */
interface Entry {
  /** Of the binding, where it is one. */
  readonly id: string
  readonly at: Path
  readonly entry: unknown
  readonly plugin: Discovered
}

/** What the file has for plugins. */
export interface Configured {
  /** The settings of plugins by id, and of bindings by `module/name`; none of those that are wrong. */
  readonly changes: Readonly<Record<string, SettingChange>>
  /** One readable line each. */
  readonly problems: readonly string[]
}

/** The settings in the file of plugins by id, and of bindings by `module/name`. Rejects with a ConfigError that names every problem. */
export async function configuredPlugins(
  config: Given,
  found: readonly Discovered[],
): Promise<Configured['changes']> {
  const { changes, problems } = await readConfigured(config, found)
  if (problems.length > 0) throw new ConfigError(problems)
  return changes
}

/**
 * Reads what the file has for plugins. What nothing would ever read is a problem: a guard with a misspelt name, or with a misspelt
 * setting, must not be missed in silence. Also of a plugin that is off, as it may be switched on at any time.
 */
export async function readConfigured(config: Given, found: readonly Discovered[]): Promise<Configured> {
  const owners = await sectionOwners(found, config.plugins.setupTimeout)
  const { entries, problems } = entriesOf(config, found)
  const read = await Promise.all(entries.map((entry) => readEntry(entry, config)))
  const sections = readSections(config, owners)
  const wrong = [...problems, ...read.flatMap((entry) => entry.problems), ...sections.problems]
  const changes: Record<string, SettingChange> = {}
  for (const { id, change, problems } of read) if (change && problems.length === 0) changes[id] = change
  for (const [id, values] of sections.values) changes[id] = { config: { ...values } }
  return { changes, problems: renderProblems(wrong, config.source) }
}

/** The entries of plugins that are there and of their bindings, and what is wrong with names. */
function entriesOf(
  { modules }: Given,
  found: readonly Discovered[],
): { entries: Entry[]; problems: Problem[] } {
  const byId = new Map(found.map((plugin) => [plugin.id, plugin]))
  const entries: Entry[] = []
  const problems: Problem[] = []
  for (const [id, { bindings = {}, ...entry }] of Object.entries(modules)) {
    const plugin = byId.get(id)
    if (!plugin) {
      const message = `unknown module${nearestHint(id, [...byId.keys()])}`
      problems.push({ path: ['modules', id], message })
      continue
    }
    entries.push({ id, at: ['modules', id], entry, plugin })
    for (const [name, binding] of Object.entries(bindings)) {
      const at = ['modules', id, 'bindings', name]
      const issue = bindingName.safeParse(name).error?.issues[0]
      if (issue) problems.push({ path: at, message: `a binding's name ${issue.message}` })
      entries.push({ id: bindingId(id, name), at, entry: binding, plugin })
    }
  }
  return { entries, problems }
}

/** An entry as a change of settings, and what is wrong with it. */
async function readEntry(
  { id, at, entry, plugin }: Entry,
  { source, plugins }: Given,
): Promise<{ id: string; change?: SettingChange; problems: Problem[] }> {
  const { data: change, error } = settingChange.safeParse(entry)
  if (!change) {
    const schema = z.toJSONSchema(settingChange, { io: 'input' }) as SchemaNode
    return { id, problems: problemsAt(at, { value: entry, schema, issues: error.issues }, source) }
  }
  // Whoever wrote a plugin from outside decides what it takes, and an operator may have changed it since: its setup tells.
  if (!change.config || plugin.source !== 'builtin') return { id, change, problems: [] }
  const settings = await settingsOf(plugin, plugins.setupTimeout)
  if (!settings || settings.safeParse(change.config).success) return { id, change, problems: [] }
  const schema = (jsonSchemaOf(settings) ?? {}) as SchemaNode
  const config = fromTexts(change.config, schema) as NonNullable<SettingChange['config']>
  const issues = (settings.safeParse(config).error?.issues ?? []).filter((issue) => isOfFile(issue, config))
  const problems = problemsAt([...at, 'config'], { value: config, schema, issues }, source)
  return { id, change: { ...change, config }, problems }
}

/**
 * Whether it is the file that is wrong: an unknown key, or a value. What is missing, or does not fit together, may have been set at
 * runtime; a setup judges the whole.
 */
const isOfFile = ({ code, path }: z.core.$ZodIssue, config: object): boolean =>
  code === 'unrecognized_keys' ||
  (path.length > 0 && ![undefined, null].includes(valueAt(config, path.map(String)) as undefined))

/** The plugins that keep sections of service.yaml, with the settings that these are. `setupMs` is the configuration's limit. */
function sectionOwners(found: readonly Discovered[], setupMs: number): Promise<SectionOwner[]> {
  const owners = found.flatMap((plugin) => {
    const { manifest, problem } = plugin
    return manifest && manifest.kind !== 'module' && manifest.sections.length > 0 && problem === undefined
      ? [{ plugin, sections: manifest.sections }]
      : []
  })
  return Promise.all(
    owners.map(async ({ plugin, sections }) => {
      return { id: plugin.id, sections, settings: await settingsOf(plugin, setupMs) }
    }),
  )
}

/** The settings that a plugin takes; undefined of one that cannot be imported, which is reported elsewhere. */
async function settingsOf(plugin: Discovered, setupMs: number): Promise<z.ZodType | undefined> {
  if (!plugin.entry) return undefined
  const imported = inTime(load(plugin.entry), setupLimit(plugin, setupMs), 'its import')
  return (await imported.catch(() => undefined))?.settings
}
