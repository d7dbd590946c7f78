import type { Engine } from '../../storage/index.ts'
import type { PersonalData } from '../contract/personal-data.ts'
import { conflict } from '../errors.ts'
import { isolationOf } from './isolation.ts'
import { migrate } from './migration.ts'
import { runningOnce } from './once.ts'
import { type Plugin, type Plugins, storeOfPlugins } from './plugin-record.ts'
import type { Records } from './records.ts'
import { type SetupParts, setUp } from './setup.ts'

/** The stored data of plugins and bindings that do not run. */
export interface Sleeping {
  /** Their records; a binding that was removed is here as if it were there, without settings. */
  readonly plugins: readonly Plugin[]
  /** The names of what no plugin here can be asked about, because it is gone. */
  readonly unclaimed: readonly string[]
}

/** Finds who has something in the store and does not run. */
export async function sleepingOf(
  plugins: Plugins,
  records: Pick<Records, 'binding'>,
  engine: Pick<Engine, 'contents'>,
): Promise<Sleeping> {
  const parts = await engine.contents(`${storeOfPlugins}/`)
  const sleeping: Plugin[] = []
  const unclaimed: string[] = []
  for (const name of new Set(parts.map(({ path }) => path.split('/')[1]!))) {
    const [id, binding] = name.split('_') as [string, string | undefined]
    const owner = plugins.get(id)
    const plugin = binding === undefined ? owner : plugins.get(`${id}/${binding}`)
    if (plugin?.instance) continue
    if (plugin) sleeping.push(plugin)
    else if (owner?.manifest?.kind === 'module') sleeping.push(records.binding(owner, binding!, undefined))
    else unclaimed.push(name)
  }
  return { plugins: sleeping, unclaimed }
}

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
  const { binding } = plugin
  const record = binding ? plugins.get(binding.module)! : plugin
  const settled = records.withSettings(plugin, await migrate(plugin, parts.isolation), record.setting)
  const once = runningOnce(plugin, plugins.values())
  const own = { ...parts, isDormant: true, configure: refused }
  const instance = await setUp(settled, own, { record, once })
  try {
    // What runs already is asked where it runs.
    const made = once ? [] : (instance.once?.instance.personal ?? [])
    for (const data of [...made, ...instance.personal]) await ask(data)
  } finally {
    await instance.scope.dispose()
  }
}

const refused = (): Promise<never> =>
  Promise.reject(conflict('A plugin that is switched off cannot change the configuration.'))
