import { z } from 'zod'
import type { Config } from '../../../config/config.ts'
import { effective, type SettingChange } from '../../../config/setting.ts'
import type { Discovered } from '../../../kernel/discovery/manifest.ts'
import { explain } from '../../../kit/explain.ts'
import { askRunning } from '../running.ts'
import { type Check, failed, warning } from './result.ts'

interface Parts {
  readonly config: Pick<Config, 'adminKey'>
  readonly configured: Readonly<Record<string, SettingChange>>
  readonly found: readonly Discovered[]
  /** The address of the gateway that has the data folder, if one runs. */
  readonly running: string | undefined
}

const listed = z.object({
  plugins: z.array(z.object({ name: z.string(), state: z.string(), problem: z.string().nullable() })),
})

/**
 * The plugins that are on and do not run, with the reason. A running gateway knows them all, and tells them to its admin key; without one
 * these are the plugins that need others which are off, as setups may reach outside and are left to a start.
 */
export async function checkStopped({ config, configured, found, running }: Parts): Promise<Check[]> {
  if (!running || config.adminKey === undefined) return unmet(found, configured)
  try {
    const { plugins } = listed.parse(
      await askRunning(running, config.adminKey, 'GET', '/api/plugins', undefined),
    )
    return plugins
      .filter(({ state }) => ['failed', 'waiting'].includes(state))
      .map(({ name, problem }) =>
        failed('plugins', `${name} is on and does not run: ${problem ?? 'it waits for others'}`),
      )
  } catch (error) {
    return [
      warning('plugins', `The running gateway does not say which plugins do not run: ${explain(error)}`),
    ]
  }
}

function unmet(found: readonly Discovered[], configured: Parts['configured']): Check[] {
  const on = found.filter(
    ({ id, manifest, installed }) =>
      manifest && effective(manifest, installed && { enabled: true }, configured[id]).enabled,
  )
  const ids = new Set(on.map(({ id }) => id))
  return on.flatMap(({ id, manifest }) => {
    const missing = manifest!.requires.filter((needed) => !ids.has(needed))
    if (missing.length === 0) return []
    return [
      failed(
        'plugins',
        `${id} is on and does not run: it needs ${missing.join(', ')}, which must be switched on.`,
      ),
    ]
  })
}
