import { pathToFileURL } from 'node:url'
import type { ModuleDefinition, PluginDefinition } from './plugin.ts'

/** Imports a plugin's code. Throws a readable error when what it exports is no definition. */
export async function load(entry: string): Promise<ModuleDefinition | PluginDefinition> {
  const { default: definition } = (await import(pathToFileURL(entry).href)) as { default?: unknown }
  if (!isDefinition(definition)) {
    throw new Error('the default export must be a definition: defineModule, defineArea or defineProvider')
  }
  return definition
}

function isDefinition(value: unknown): value is ModuleDefinition | PluginDefinition {
  if (typeof value !== 'object' || value === null) return false
  const { settings, setup } = value as Record<string, unknown>
  return (
    typeof setup === 'function' &&
    typeof settings === 'object' &&
    settings !== null &&
    'safeParse' in settings
  )
}
