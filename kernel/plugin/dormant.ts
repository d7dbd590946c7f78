import type { PersonalData } from '../contract/personal-data.ts'
import { conflict } from '../errors.ts'
import { isolationOf } from './isolation.ts'
import { migrate } from './migration.ts'
import { runningOnce, withOnce } from './once.ts'
import type { Plugin, Plugins } from './plugin-record.ts'
import type { Records } from './records.ts'
import { type SetupParts, setUp } from './setup.ts'

/**
 * Sets up a plugin that does not run, apart from all that do, asks what it keeps of persons, and ends it again. It serves no
 * calls and no routes, hears no events, and neither its timers nor its jobs run. Rejects when it cannot be set up.
 */
export async function askDormant(
  plugin: Plugin,
  { parts, plugins, records }: { parts: SetupParts; plugins: Plugins; records: Records },
  ask: (data: PersonalData) => Promise<void>,
): Promise<void> {
  // What runs in a worker keeps no personal data, as that cannot be asked about there.
  if (isolationOf(plugin) === 'worker') return
  const settled = records.withSettings(plugin, await migrate(plugin, parts.isolation))
  const runs = runningOnce(plugin, plugins)
  const instance = await setUp(settled, { ...parts, isDormant: true, configure: refused }, plugins)
  try {
    // What runs already is asked where it runs.
    const made = withOnce([instance]).filter((one) => one !== runs?.instance)
    for (const data of made.flatMap(({ personal }) => personal)) await ask(data)
  } finally {
    await instance.scope.dispose()
  }
}

const refused = (): Promise<never> =>
  Promise.reject(conflict('A plugin that is switched off cannot change the configuration.'))
