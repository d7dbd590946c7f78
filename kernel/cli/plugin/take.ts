import path from 'node:path'
import type { Config } from '../../config.ts'
import { discoverPlugins } from '../../plugin/discovery.ts'
import { type Candidate, fetchCandidate, prune } from '../../plugin/packages/candidate.ts'
import {
  type Installed,
  type InstalledPackage,
  packagesFolder,
  readInstalled,
  writeInstalled,
} from '../../plugin/packages/installed.ts'
import { readContent } from '../../plugin/staging/content.ts'
import { conform } from './conform.ts'
import { accept } from './consent.ts'
import type { Gateway } from './gateway.ts'
import type { Session, SessionOptions } from './session.ts'

export interface TakeOptions extends SessionOptions {
  /** Accept what it asks for. */
  readonly yes?: boolean
  /** False leaves the conformance kit out. */
  readonly check?: boolean
}

export interface Taken {
  readonly name: string
  readonly status: 'added' | 'updated' | 'unchanged'
  readonly installed: InstalledPackage
}

/**
 * Fetches a package, has its permissions accepted and its conduct checked, and puts it in the place of what has its id.
 * When any of that fails, or the running gateway does not take it, everything is as it was. A relative path is meant
 * from here, also at later updates.
 */
export async function take(
  spec: string,
  { config, gateway, say }: Session,
  options: TakeOptions,
  expected?: string,
): Promise<Taken> {
  const { dataDir } = config
  const from = /^\.{1,2}([/\\]|$)/.test(spec) ? path.resolve(spec) : spec
  say(`Fetching ${from}, without running anything of it.`)
  const candidate = await fetchCandidate(from, dataDir)
  try {
    const { id, archive, manifest } = candidate
    const installed = await readInstalled(dataDir)
    const before = installed[id]
    if (expected !== undefined && id !== expected)
      throw new Error(`${archive.name} is the plugin ${id}, not ${expected}`)
    if (!before) await refuseTaken(id, config)
    if (before && before.current.integrity === archive.integrity && (await isIntact(before, dataDir)))
      return { name: id, status: 'unchanged', installed: before }
    const asked = manifest.permissions.filter((one) => !before?.current.permissions.includes(one))
    say(`${archive.name} ${archive.version}: ${manifest.title}. ${manifest.description}`)
    say(`Integrity: ${archive.integrity}`)
    say(`${before ? 'Newly asked for' : 'Asks for'}: ${asked.join(', ') || 'nothing'}.`)
    await accept(id, asked, options.yes ?? false)
    if (options.check !== false) await demandConduct(candidate, say)
    const current = await candidate.keep()
    const previous = before?.current.integrity === current.integrity ? before.previous : before?.current
    const record = { package: archive.name, spec: from, current, ...(previous && { previous }) }
    await put({ ...installed, [id]: record }, installed, id, dataDir, gateway, !before)
    await prune(dataDir, id, [record.current, record.previous])
    return { name: id, status: before ? 'updated' : 'added', installed: record }
  } finally {
    await candidate.discard()
  }
}

/** Throws when a plugin that was not installed by command has the id. */
async function refuseTaken(id: string, config: Config): Promise<void> {
  const found = (await discoverPlugins(config)).find((item) => item.id === id)
  if (!found) return
  const whose = found.source === 'builtin' ? "the gateway's own" : found.folder
  throw new Error(`there is a plugin called ${id} already: ${whose}`)
}

async function demandConduct({ id, folder, scratch }: Candidate, say: Session['say']): Promise<void> {
  say('Running the conformance kit on it, in a process of its own.')
  const failed = (await conform(folder, scratch)).filter(({ ok }) => !ok)
  if (failed.length === 0) return
  const problems = failed.map(({ check, problem }) => `${check}: ${problem ?? 'no'}`)
  throw new Error(
    `${id} does not keep to the contract (--no-check takes it nevertheless). ${problems.join(' ')}`,
  )
}

/**
 * Records what is installed and has the gateway take it; `enable` switches it on. When the gateway does not take it,
 * the record is put back.
 */
export async function put(
  next: Installed,
  before: Installed,
  id: string,
  dataDir: string,
  gateway: Gateway,
  enable: boolean,
): Promise<void> {
  await writeInstalled(dataDir, next)
  try {
    await gateway.refresh(id)
    if (enable) await gateway.enable(id)
  } catch (error) {
    await writeInstalled(dataDir, before)
    await gateway.refresh(id).catch(() => {})
    throw error
  }
}

/** Whether what is on disk is what was installed. */
export async function isIntact(
  { current }: Pick<InstalledPackage, 'current'>,
  dataDir: string,
): Promise<boolean> {
  const folder = path.join(packagesFolder(dataDir), current.folder)
  const content = await readContent(folder).catch(() => undefined)
  return content?.hash === current.content
}
