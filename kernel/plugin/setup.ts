import type { z } from 'zod'
import { deepFreeze } from '../../kit/json/deep-freeze.ts'
import { HookFault } from '../../kit/work/hook-fault.ts'
import { inTime } from '../../kit/work/in-time.ts'
import { hooksOf } from '../chain/hooks.ts'
import type { Definition, OnceContext } from '../contract/plugin.ts'
import { load, withPlace } from '../discovery/loader.ts'
import { isPlaced, setupLimit } from '../discovery/manifest.ts'
import { grantedHooks } from '../permissions/granted.ts'
import { grantsOf } from '../permissions/permissions.ts'
import { readOnlyEvents, readOnlyHooks } from '../permissions/read-only.ts'
import { checkedHooks } from './checked-hooks.ts'
import { type ContextParts, contextOf } from './context.ts'
import { giveBack, Instance } from './instance.ts'
import { type Isolation, isolationOf } from './isolation.ts'
import { makeOnce, runningOnce } from './once.ts'
import { parseSettings } from './parse-settings.ts'
import type { Plugin, Plugins } from './plugin-record.ts'
import type { Shadow } from './shadow.ts'

/** The parts that plugins are set up with. */
export interface SetupParts extends ContextParts {
  readonly isolation: Isolation
  readonly shadow: Shadow
}

/** A plugin's code, imported when first needed. */
export async function definitionOf(plugin: Plugin, ms = setupLimit(plugin.found)): Promise<Definition> {
  if (plugin.definition) return plugin.definition
  if (isolationOf(plugin) === 'worker') throw new HookFault(`${plugin.id} runs in a worker, and only there`)
  const { entry, staged } = plugin.found
  try {
    plugin.definition = await inTime(load(entry!), ms, 'its import')
    return plugin.definition
  } catch (error) {
    staged?.spoil()
    throw error
  }
}

/**
 * The settings a plugin takes. Undefined for plugins without code, and for those with a broken folder or a failed import:
 * showing them or switching them off does not try that import again.
 */
export async function schemaOf(plugin: Plugin, isolation: Isolation): Promise<z.ZodType | undefined> {
  const { found, definition } = plugin
  if (!found.entry || found.problem || (!definition && found.staged?.spoiled)) return undefined
  if (isolationOf(plugin) === 'inproc') return (await definitionOf(plugin)).settings
  plugin.described ??= await isolation.describe(plugin)
  return plugin.described
}

/** A plugin's settings, parsed. Throws a bad request that names the field. */
export async function settingsOf(plugin: Plugin, isolation: Isolation): Promise<unknown> {
  const schema = await schemaOf(plugin, isolation)
  return schema && parseSettings(plugin.id, schema, plugin.setting!.config)
}

/**
 * A new instance of a plugin among these, under what its module has once, also among those that run `before`. When its setup
 * fails, everything it had acquired is given back first.
 */
export async function setUp(
  plugin: Plugin,
  parts: SetupParts,
  plugins: Plugins,
  before: Plugins = plugins,
): Promise<Instance> {
  const instance = new Instance(plugin.id)
  instance.mode = plugin.setting?.mode ?? 'enforce'
  if (plugin.found.staged) instance.scope.own(plugin.found.staged.hold())
  const setupMs = setupLimit(plugin.found, parts.setupMs)
  try {
    if (isolationOf(plugin) === 'worker')
      instance.hooks = await parts.isolation.setUp(plugin, instance, parts)
    else if (plugin.found.entry) {
      const definition = await definitionOf(plugin, setupMs)
      const settings = deepFreeze(await settingsOf(plugin, parts.isolation))
      const isSafe = parts.freezeAll || plugin.found.source !== 'builtin'
      const own = isSafe ? { ...parts, events: readOnlyEvents(parts.events) } : parts
      if ('once' in definition && definition.once) {
        const run = (context: OnceContext) => inTime(definition.once!(context), setupMs, 'its once')
        const module = plugin.binding ? plugins.get(plugin.binding.module)! : plugin
        instance.once = runningOnce(plugin, plugins, before) ?? (await makeOnce(module, own, run))
        instance.scope.own(instance.once.instance.hold())
      }
      const context = contextOf(own, plugin, instance, settings)
      const made = definition.setup(context, instance.once?.value)
      const hooks = checkedHooks(await inTime(made, setupMs, 'its setup'))
      if (!isPlaced(plugin.manifest) && hooksOf(hooks).length > 0)
        throw new Error('its setup returned hooks, and its manifest names no stage for them')
      const safe = isSafe ? readOnlyHooks(hooks) : hooks
      instance.hooks = grantedHooks(plugin.id, safe, grantsOf(plugin.manifest!.permissions))
    }
    if (instance.mode === 'shadow') parts.shadow.refuse(instance)
    return instance
  } catch (error) {
    await giveBack(instance, parts.log)
    throw plugin.found.entry ? await withPlace(error, plugin.found.entry) : error
  }
}
