import { rm } from 'node:fs/promises'
import path from 'node:path'
import {
  type Installed,
  type InstalledPackage,
  packagesFolder,
  readInstalled,
} from '../../plugin/packages/installed.ts'
import { configuration } from '../configuration.ts'
import { inSession, type SessionOptions } from './session.ts'
import { isIntact, put, type Taken, type TakeOptions, take } from './take.ts'

/** `plugin add`: installs a package as a plugin and switches it on. */
export function add(spec: string, options: TakeOptions): Promise<void> {
  return inSession(options, (session) => take(spec, session, options), outcome)
}

/** `plugin update`: takes the newest version of what was asked for when it was added, or another one. */
export function update(name: string, spec: string | undefined, options: TakeOptions): Promise<void> {
  return inSession(
    options,
    async (session) => {
      const record = recordOf(await readInstalled(session.config.dataDir), name)
      return take(spec ?? record.spec, session, options, name)
    },
    outcome,
  )
}

/** `plugin rollback`: goes back to the version before; a second time, forth again. */
export function rollback(name: string, options: SessionOptions): Promise<void> {
  return inSession(
    options,
    async ({ config: { dataDir }, gateway }) => {
      const installed = await readInstalled(dataDir)
      const { previous, current, ...rest } = recordOf(installed, name)
      if (!previous) throw new Error(`${name} has no version before ${current.version}`)
      const record: InstalledPackage = { ...rest, current: previous, previous: current }
      if (!(await isIntact(record, dataDir)))
        throw new Error(`the files of ${name} ${previous.version} are not those that were installed`)
      await put({ ...installed, [name]: record }, installed, name, dataDir, gateway, false)
      return { name, status: 'rolled_back' as const, installed: record }
    },
    ({ installed }) => `${name} is at ${installed.current.version} again.`,
  )
}

/** `plugin remove`: stops a plugin and removes its files; its settings and what it stored stay. */
export function remove(name: string, options: SessionOptions): Promise<void> {
  return inSession(
    options,
    async ({ config: { dataDir }, gateway }) => {
      const installed = await readInstalled(dataDir)
      recordOf(installed, name)
      const { [name]: _, ...others } = installed
      await put(others, installed, name, dataDir, gateway, false)
      await rm(path.join(packagesFolder(dataDir), name), { recursive: true, force: true })
      return { name, status: 'removed' as const }
    },
    () => `${name} is removed; its settings and what it stored stay.`,
  )
}

/** `plugin list`: what was installed by command. */
export async function list({ json = false }: { json?: boolean }): Promise<void> {
  const config = configuration()
  if (!config) return
  const plugins = Object.entries(await readInstalled(config.dataDir)).map(([name, record]) => ({
    name,
    ...record,
  }))
  if (json) return console.log(JSON.stringify({ plugins, total: plugins.length }, null, 2))
  for (const { name, package: from, current } of plugins)
    console.log(`${name}  ${current.version}  ${from}  ${current.permissions.join(', ')}`)
  console.log(`${plugins.length} installed.`)
}

/** `plugin info`: one of them, and whether its files are still those that were installed. */
export async function info(name: string, { json = false }: { json?: boolean }): Promise<void> {
  const config = configuration()
  if (!config) return
  const record = (await readInstalled(config.dataDir))[name]
  if (!record) {
    console.error(missing(name))
    process.exitCode = 1
    return
  }
  const intact = await isIntact(record, config.dataDir)
  if (json) return console.log(JSON.stringify({ name, ...record, intact }, null, 2))
  const { current, previous } = record
  console.log(`${name} ${current.version} from ${record.package} (${record.spec})`)
  console.log(`integrity    ${current.integrity}`)
  console.log(`files        ${intact ? 'as they were installed' : 'changed since they were installed'}`)
  console.log(`permissions  ${current.permissions.join(', ') || 'none'}`)
  console.log(`installed    ${current.installed_at}`)
  console.log(`before       ${previous?.version ?? 'nothing'}`)
}

const missing = (name: string): string => `${name} is not installed; "switchyard plugin list" says what is`

function recordOf(installed: Installed, name: string): InstalledPackage {
  const record = installed[name]
  if (!record) throw new Error(missing(name))
  return record
}

function outcome({ name, status, installed }: Taken): string {
  const { version } = installed.current
  if (status === 'unchanged') return `${name} ${version} is installed already.`
  return `${name} ${version} is ${status}${status === 'added' ? ' and switched on' : ''}.`
}
