import type { Discovered } from '../discovery/manifest.ts'
import { type ContextParts, contextOf, giveBack, Instance } from './instance.ts'
import type { Plugin, Plugins } from './plugin-record.ts'

/** The part that a module has once, however many configurations of it run. It lasts as long as one of them does. */
export interface Once {
  /** The resources and offers that it made. */
  readonly instance: Instance
  /** The value that setup gets. */
  readonly value: unknown
  /** The code that made it: other code makes its own. */
  readonly found: Discovered
  /** Keeps it until what this returns is called; the last one to let go disposes of it. */
  hold(): () => unknown
}

/** Runs a module's `once`. When it fails, everything it had acquired is given back first. */
export async function makeOnce(
  { id, found, manifest, memory, meter }: Plugin,
  parts: ContextParts,
  run: (context: ReturnType<typeof contextOf<undefined>>) => Promise<unknown>,
): Promise<Once> {
  const instance = new Instance(id)
  if (found.staged) instance.scope.own(found.staged.hold())
  let holders = 0
  const hold = () => {
    holders += 1
    return () => {
      holders -= 1
      return holders === 0 ? instance.scope.dispose() : undefined
    }
  }
  try {
    const value = await run(contextOf(parts, manifest!, instance, undefined, memory, meter))
    return { instance, value, found, hold }
  } catch (error) {
    await giveBack(instance, parts.log)
    throw error
  }
}

/** The part that a module running with this code has once, from any of its configurations. */
export function runningOnce(plugin: Plugin, ...tables: readonly Plugins[]): Once | undefined {
  const moduleOf = ({ id, binding }: Plugin): string => binding?.module ?? id
  for (const plugins of tables)
    for (const other of plugins.values()) {
      const once = other.instance?.once
      if (once?.found === plugin.found && moduleOf(other) === moduleOf(plugin)) return once
    }
  return undefined
}

/** Instances, with what those of modules have once before them. */
export const withOnce = (instances: readonly Instance[]): Instance[] => [
  ...new Set(
    instances.flatMap((instance) => (instance.once ? [instance.once.instance, instance] : [instance])),
  ),
]
