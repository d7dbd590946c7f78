import { isIntact } from '../../../gateway/discovery/installed.ts'
import { type Installed, type InstalledPackage, readInstalled, readRecord } from '../packages/record.ts'
import { inSession, type OutputOptions, report, type SessionOptions } from './session.ts'
import { commit, type Taken, type TakeOptions, take } from './take.ts'

/** `plugin add`: installs a package as a plugin and switches it on. */
export function add(spec: string, options: TakeOptions): Promise<void> {
  return inSession(options, (session) => take(spec, session, options), outcome, { isFirst: true })
}

/** `plugin update`: takes the newest version of what its present one was asked for as, or another one. */
export function update(name: string, spec: string | undefined, options: TakeOptions): Promise<void> {
  return inSession(
    options,
    async (session) => {
      const { current } = recordOf(await readInstalled(session.config.dataDir), name, session.config.dataDir)
      return take(spec ?? current.spec, session, options, name)
    },
    outcome,
  )
}

/** `plugin rollback`: goes back to the version before; a second time, forth again. */
export function rollback(name: string, options: SessionOptions): Promise<void> {
  return inSession(
    options,
    async (session) => {
      const { dataDir } = session.config
      const recorded = await readRecord(dataDir)
      const { previous, current } = recordOf(recorded.plugins, name, dataDir)
      if (!previous) throw new Error(`${name} has no version before ${current.version}`)
      if (!(await isIntact(previous, dataDir)))
        throw new Error(`the files of ${name} ${previous.version} have changed since they were installed`)
      const record: InstalledPackage = { current: previous, previous: current }
      const plugins = { ...recorded.plugins, [name]: record }
      await commit(session, recorded, { ...recorded, plugins }, name, async () => {})
      return { name, status: 'rolled_back' as const, installed: record }
    },
    ({ installed }) => `${name} is at ${installed.current.version} again.`,
  )
}

/** `plugin list`: what was installed by command. */
export function list(options: OutputOptions): Promise<void> {
  return report(
    options,
    async ({ dataDir }) => {
      const installed = Object.entries(await readInstalled(dataDir))
      return { plugins: installed.map(([name, record]) => ({ name, ...record })), total: installed.length }
    },
    ({ plugins, total }) =>
      [
        ...plugins.map(
          ({ name, current: { version, package: from, manifest } }) =>
            `${name}  ${version}  ${from}  ${manifest.permissions.join(', ')}`,
        ),
        `${total} installed.`,
      ].join('\n'),
  )
}

/** `plugin info`: one of them, and whether its files are still those that were installed. */
export function info(name: string, options: OutputOptions): Promise<void> {
  return report(
    options,
    async ({ dataDir }) => {
      const record = recordOf(await readInstalled(dataDir), name, dataDir)
      return { name, ...record, intact: await isIntact(record.current, dataDir) }
    },
    ({ current, previous, intact }) =>
      [
        `${name} ${current.version} from ${current.package} (${current.spec})`,
        `integrity    ${current.integrity}`,
        `files        ${intact ? 'unchanged since they were installed, dependencies included' : 'changed since they were installed'}`,
        `permissions  ${current.manifest.permissions.join(', ') || 'none'}`,
        `installed    ${current.installed_at}`,
        `before       ${previous ? `${previous.version} (${previous.spec})` : 'nothing'}`,
      ].join('\n'),
  )
}

function recordOf(installed: Installed, name: string, dataDir: string): InstalledPackage {
  const record = installed[name]
  if (!record) throw notInstalled(name, dataDir)
  return record
}

/** That there is no such plugin to work with. */
export const notInstalled = (name: string, dataDir: string): Error =>
  new Error(`${name} is not installed in ${dataDir}; "switchyard plugin list" lists the installed ones`)

function outcome({ name, status, problem, installed }: Taken): string {
  const { version } = installed.current
  const how = {
    added: `${name} ${version} is added and switched on`,
    updated: `${name} is updated to ${version}`,
    unchanged: `${name} ${version} is already installed`,
  }[status]
  return problem === undefined ? `${how}.` : `${how}, but does not run: ${problem}`
}
