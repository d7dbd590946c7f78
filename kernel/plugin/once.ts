import { type ContextParts, contextOf } from './context.ts'
import { giveBack, Instance, type Once } from './instance.ts'
import { moduleOf, type Plugin, type Plugins } from './plugin-record.ts'

/** Runs a module's `once`. When it fails, everything it had acquired is given back first. */
export async function makeOnce(
  plugin: Plugin,
  parts: ContextParts,
  run: (context: ReturnType<typeof contextOf<undefined>>) => Promise<unknown>,
): Promise<Once> {
  const { id, found } = plugin
  const instance = new Instance(id)
  if (found.staged) instance.scope.own(found.staged.hold())
  try {
    return { instance, value: await run(contextOf(parts, plugin, instance, undefined)), found }
  } catch (error) {
    await giveBack(instance, parts.log)
    throw error
  }
}

/** The part that a module running with this code has once, from any of its configurations. */
export function runningOnce(plugin: Plugin, ...tables: readonly Plugins[]): Once | undefined {
  for (const plugins of tables)
    for (const other of plugins.values()) {
      const once = other.instance?.once
      if (once?.found === plugin.found && moduleOf(other.id) === moduleOf(plugin.id)) return once
    }
  return undefined
}

/** Instances, with what those of modules have once before them. */
export const withOnce = (instances: readonly Instance[]): Instance[] => [
  ...new Set(
    instances.flatMap((instance) => (instance.once ? [instance.once.instance, instance] : [instance])),
  ),
]
