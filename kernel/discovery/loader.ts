import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { ConfigError } from '../../config/config-error.ts'
import { isGatewayError } from '../../kit/errors.ts'
import { locate } from '../../staging/source-place.ts'
import type { Definition } from '../contract/plugin.ts'

const callable = z.custom((value) => typeof value === 'function')
const form = z.object({ settings: z.object({ safeParse: callable }), setup: callable })

/** Imports a plugin's code. Throws a readable error when that fails, or what it exports is no definition. */
export async function load(entry: string): Promise<Definition> {
  const { default: definition } = await import(pathToFileURL(entry).href).catch(async (error: unknown) => {
    throw await withPlace(error, entry)
  })
  if (!form.safeParse(definition).success)
    throw new Error('the default export must be a definition: defineModule, defineArea or defineProvider')
  return definition as Definition
}

/** What a plugin's code threw, with the place in its files that it came from; errors with a meaning stay as they are. */
export const withPlace = async (error: unknown, entry: string): Promise<unknown> =>
  isGatewayError(error) || error instanceof ConfigError ? error : locate(error, entry)
