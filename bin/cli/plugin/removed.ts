import { discoverPlugins } from '../../../gateway/discovery/discovery.ts'
import { explain } from '../../../kit/explain.ts'
import type { StoredPart } from '../../../storage/index.ts'
import { type InstallRecord, type Removal, readRecord } from '../packages/record.ts'
import { endRemovals } from '../packages/removal.ts'
import { acceptErasure } from './consent.ts'
import { notInstalled } from './installed.ts'
import { inSession, type Session, type SessionOptions } from './session.ts'
import { commit } from './take.ts'

export type EraseOptions = SessionOptions & {
  /** Erase without asking. */
  readonly yes?: boolean
}

export type RemoveOptions = EraseOptions & {
  /** Leave its settings for the day it is added again. */
  readonly keepSettings?: boolean
  /** Erase what it stored as well. */
  readonly erase?: boolean
}

/** The result of removing a plugin, and of erasing what it left. */
interface Removed extends Removal {
  readonly name: string
  readonly status: 'removed' | 'erased'
  /** The erased parts. */
  readonly erased: readonly StoredPart[]
  /** Whether `service.yaml` still says something of it. */
  readonly configured: boolean
}

/** `plugin remove`: stops a plugin, removes its files, forgets its settings, and erases what it stored if that is asked for. */
export function remove(name: string, options: RemoveOptions): Promise<void> {
  const removal: Removal = {
    settings: options.keepSettings ? 'kept' : 'forgotten',
    stored: options.erase ? 'erased' : 'kept',
  }
  return inSession(
    options,
    async (session) => {
      const { plugins, leaving } = await readRecord(session.config.dataDir)
      const { [name]: present, ...others } = plugins
      if (!present && !session.removed.includes(name)) throw notInstalled(name, session.config.dataDir)
      const erased = options.erase ? await toErase(name, session, options) : []
      if (present) await leave(session, { plugins, leaving }, others, name, removal)
      else if (options.erase) await leave(session, { plugins, leaving }, plugins, name, removal)
      return { name, status: 'removed' as const, ...removal, erased, configured: isConfigured(name, session) }
    },
    told,
  )
}

/** `plugin erase`: erases what a plugin has stored that is gone, and forgets its settings. */
export function erase(name: string, options: EraseOptions): Promise<void> {
  const removal: Removal = { settings: 'forgotten', stored: 'erased' }
  return inSession(
    options,
    async (session) => {
      const { config } = session
      const there = (await discoverPlugins(config)).find(({ id }) => id === name)
      if (there?.source === 'builtin')
        throw new Error(`${name} is built in: only the stored data of removed plugins can be erased`)
      if (there) {
        throw new Error(
          `${name} is still there, and what it stored with it: "switchyard plugin remove ${name} --erase" removes ` +
            'one that was installed; take another one out of plugin_dirs or plugins first',
        )
      }
      const recorded = await readRecord(config.dataDir)
      const erased = await toErase(name, session, options)
      const had = await leave(session, recorded, recorded.plugins, name, removal)
      if (!had && !session.removed.includes(name))
        throw new Error(`a plugin called ${name} has left nothing: no settings and no stored data`)
      return { name, status: 'erased' as const, ...removal, erased, configured: isConfigured(name, session) }
    },
    told,
  )
}

/** Shows what is going to be erased, and has it confirmed. */
async function toErase(
  name: string,
  { gateway, say }: Session,
  { yes = false }: EraseOptions,
): Promise<StoredPart[]> {
  const stored = await gateway.stored(name)
  const width = Math.max(0, ...stored.map(({ path }) => path.length))
  say(stored.length === 0 ? `${name} has stored nothing.` : `${name} has stored:`)
  for (const { path, kind, entries } of stored)
    say(`  ${path.padEnd(width)}  ${kind.padEnd(10)}  ${entries.toLocaleString('en')}`)
  if (stored.length > 0) await acceptErasure(name, yes)
  return stored
}

/** Records what is to become of a plugin, has the gateway take that, and sees it through; whether it had left anything. */
async function leave(
  session: Session,
  recorded: InstallRecord,
  plugins: InstallRecord['plugins'],
  name: string,
  removal: Removal,
): Promise<boolean> {
  const { config, gateway } = session
  const leaving = { ...recorded.leaving, [name]: removal }
  await commit(session, recorded, { plugins, leaving }, name, async () => {})
  let had = false
  const { failed } = await endRemovals(config.dataDir, async (id, removal) => {
    const found = await gateway.leave(id, removal)
    if (id === name) had = found
  })
  const own = failed.find(({ id }) => id === name)
  if (own) {
    throw new Error(
      `${name} is removed, but not yet all its data; the next command and the next start try again: ${explain(own.error)}`,
    )
  }
  return had
}

const isConfigured = (name: string, { config }: Session): boolean => config.modules[name] !== undefined

function told({ name, status, settings, stored, erased, configured }: Removed): string {
  const what = erased.length === 0 ? 'It had no stored data' : 'Its stored data is erased'
  const lines = [
    status === 'removed'
      ? `${name} is removed, and its settings are ${settings}.`
      : `The settings of ${name}, if it had any, are deleted.`,
    stored === 'erased'
      ? `${what}. Traces of calls and the cost of its model calls belong to the gateway and stay.`
      : `Its stored data, if any, stays; "switchyard plugin erase ${name}" erases it.`,
  ]
  if (configured) lines.push(`Remove modules.${name} from service.yaml: a start refuses unknown names.`)
  return lines.join('\n')
}
