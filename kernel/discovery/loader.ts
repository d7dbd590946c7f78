import { pathToFileURL } from 'node:url'
import { locate } from '../../staging/source-place.ts'
import type { ModuleDefinition, PluginDefinition } from '../contract/plugin.ts'
import { isGatewayError } from '../errors.ts'

/** Imports a plugin's code. Throws a readable error when that fails, or what it exports is no definition. */
export async function load(entry: string): Promise<ModuleDefinition | PluginDefinition> {
  const { default: definition } = await imported(entry)
  if (!isDefinition(definition)) {
    throw new Error('the default export must be a definition: defineModule, defineArea or defineProvider')
  }
  return definition
}

async function imported(entry: string): Promise<{ readonly default?: unknown }> {
  try {
    return await import(pathToFileURL(entry).href)
  } catch (error) {
    throw await located(error, entry)
  }
}

/** What a plugin's code threw, with the place in its files that it came from; coded errors stay as they are. */
export const located = async (error: unknown, entry: string): Promise<unknown> =>
  isGatewayError(error) ? error : locate(error, entry)

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
