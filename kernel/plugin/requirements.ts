import { conflict } from '../errors.ts'
import type { Plugin, PluginState } from './plugin-record.ts'

type Plugins = ReadonlyMap<string, Plugin>

/** What a plugin needs and does not have. */
export function missingOf(plugin: Plugin, plugins: Plugins): string[] {
  return (plugin.manifest?.requires ?? []).filter((id) => !plugins.get(id)?.instance)
}

export function stateOf(plugin: Plugin, plugins: Plugins): PluginState {
  if (plugin.instance) return plugin.meter.circuit.state === 'closed' ? 'active' : 'tripped'
  if (!plugin.manifest || plugin.found.problem) return 'invalid'
  if (!plugin.setting?.enabled) return 'disabled'
  return missingOf(plugin, plugins).length > 0 ? 'waiting' : 'failed'
}

/** Throws a conflict that names who needs a plugin which is about to go. */
export function refuseIfNeeded({ id }: Plugin, plugins: Iterable<Plugin>): void {
  const dependants = [...plugins].filter((other) => other.instance && other.manifest?.requires.includes(id))
  if (dependants.length > 0) {
    const names = dependants.map((other) => other.id).join(', ')
    throw conflict(`${id} is needed by ${names}; disable those first.`)
  }
}

/**
 * Begins everybody who is switched on and has what it needs, until nobody is left who could; whether there was one. With
 * the id of a plugin that has come, only those who need it, or each other: who failed for a reason of its own is left.
 */
export async function startWaiting(
  plugins: Plugins,
  begin: (plugin: Plugin) => Promise<void>,
  came?: string,
): Promise<boolean> {
  const tried = new Set<Plugin>()
  const here = new Set([came])
  const isWanted = ({ manifest }: Plugin): boolean =>
    came === undefined || (manifest?.requires.some((id) => here.has(id)) ?? false)
  const canTry = (plugin: Plugin): boolean =>
    !plugin.instance && plugin.setting?.enabled === true && !plugin.found.problem && !tried.has(plugin)
  const startThose = async (may: (plugin: Plugin) => boolean): Promise<void> => {
    for (let progress = true; progress; ) {
      progress = false
      const next = [...plugins.values()].filter((one) => may(one) && canTry(one) && isWanted(one))
      for (const plugin of next) {
        const missing = missingOf(plugin, plugins)
        plugin.problem = missing.length > 0 ? `waits for ${missing.join(', ')}` : undefined
        if (missing.length > 0) continue
        tried.add(plugin)
        await begin(plugin)
        here.add(plugin.id)
        progress = true
      }
    }
  }
  // What the gateway's own plugins claim, no other can claim before them.
  await startThose(({ found }) => found.source === 'builtin')
  await startThose(() => true)
  return tried.size > 0
}
