import path from 'node:path'
import type { Config } from '../../../config/config.ts'
import { discoverPlugins } from '../../../gateway/discovery/discovery.ts'
import { isIntact } from '../../../gateway/discovery/installed.ts'
import { type Candidate, fetchCandidate } from '../packages/candidate.ts'
import { type InstalledPackage, type InstallRecord, readRecord, writeRecord } from '../packages/record.ts'
import { conform } from './conform.ts'
import { accept } from './consent.ts'
import type { Session, SessionOptions } from './session.ts'

export type TakeOptions = SessionOptions & {
  /** Accept what it asks for. */
  readonly yes?: boolean
  /** False leaves the conformance kit out. */
  readonly check?: boolean
}

export interface Taken {
  readonly name: string
  readonly status: 'added' | 'updated' | 'unchanged'
  /** The reason why it does not run although it is on. */
  readonly problem?: string
  readonly installed: InstalledPackage
}

/**
 * Fetches a package, has its permissions accepted and its conduct checked, and puts it in the place of what has its id.
 * When any of that fails, or the running gateway does not take it, everything is as it was. A relative path is meant
 * from here, also at later updates. `expected` is the id of a plugin to update; without it the plugin is switched on.
 */
export async function take(
  spec: string,
  session: Session,
  options: TakeOptions,
  expected?: string,
): Promise<Taken> {
  const { config, gateway, say } = session
  const from = /^\.{1,2}([/\\]|$)/.test(spec) ? path.resolve(spec) : spec
  say(`Fetching ${from} without running its scripts.`)
  const candidate = await fetchCandidate(from, config.dataDir, options.timeout)
  const { id, archive, manifest } = candidate
  const recorded = await readRecord(config.dataDir)
  const before = recorded.plugins[id]
  if (expected !== undefined && id !== expected)
    throw new Error(`${archive.name} is the plugin ${id}, not ${expected}`)
  if (!before) await refuseTaken(id, config)
  const same = before?.current.integrity === archive.integrity
  const enable = async (): Promise<Pick<Taken, 'problem'>> => {
    const problem = expected === undefined ? await gateway.enable(id) : undefined
    return problem === undefined ? {} : { problem }
  }
  if (before && same && (await isIntact(before.current, config.dataDir))) {
    await gateway.refresh(id, before.current.folder)
    return { name: id, status: 'unchanged', ...(await enable()), installed: before }
  }
  const had = before?.current.manifest.permissions ?? []
  const asked = manifest.permissions.filter((one) => !had.includes(one))
  say(`${archive.name} ${archive.version}: ${manifest.title}. ${manifest.description}`)
  say(`Integrity: ${archive.integrity}`)
  say(`${before ? 'Newly asked for' : 'Asks for'}: ${asked.join(', ') || 'nothing'}.`)
  await accept(id, asked, options.yes ?? false)
  if (options.check !== false) await demandConduct(candidate, say, options.timeout)
  const current = await candidate.keep()
  const previous = same ? before?.previous : before?.current
  const record = { current, ...(previous && { previous }) }
  const { [id]: _, ...leaving } = recorded.leaving
  const next = { plugins: { ...recorded.plugins, [id]: record }, leaving }
  const state = await commit(session, recorded, next, id, enable)
  return { name: id, status: before ? 'updated' : 'added', ...state, installed: record }
}

/** Throws when a plugin that was not installed by command has the id. */
async function refuseTaken(id: string, config: Config): Promise<void> {
  const found = (await discoverPlugins(config)).find((item) => item.id === id)
  if (!found) return
  const whose = found.source === 'builtin' ? "the gateway's own" : found.folder
  throw new Error(`there is a plugin called ${id} already: ${whose}`)
}

async function demandConduct(
  { id, folder, scratch }: Candidate,
  say: Session['say'],
  limitMs: number | undefined,
): Promise<void> {
  say('Running the conformance kit on it in a separate process.')
  const failed = (await conform(folder, scratch, { limitMs })).filter(({ ok }) => !ok)
  if (failed.length === 0) return
  const problems = failed.map(({ check, problem }) => `${check}: ${problem ?? 'no'}`)
  throw new Error(`${id} fails the conformance kit (--no-check skips it). ${problems.join(' ')}`)
}

/**
 * Records what is installed and has the gateway take what became of one plugin, then does `then`. When one of them fails,
 * the record is put back.
 */
export async function commit<T>(
  { config: { dataDir }, gateway }: Session,
  before: InstallRecord,
  next: InstallRecord,
  id: string,
  then: () => Promise<T>,
): Promise<T> {
  await writeRecord(dataDir, next)
  try {
    await gateway.refresh(id, next.plugins[id]?.current.folder)
    return await then()
  } catch (error) {
    await writeRecord(dataDir, before)
    await gateway.refresh(id, before.plugins[id]?.current.folder).catch(() => {})
    throw error
  }
}
