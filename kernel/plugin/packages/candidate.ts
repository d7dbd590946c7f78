import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import semver from 'semver'
import { type Manifest, read } from '../manifest.ts'
import { readContent } from '../staging/content.ts'
import { type InstalledVersion, packagesFolder } from './installed.ts'
import { idOf, namePattern } from './named.ts'
import { type Archive, install, pack } from './npm.ts'

/** A package that was fetched and unpacked beside the installed ones, and is not one of them yet. */
export interface Candidate {
  readonly id: string
  readonly archive: Archive
  readonly manifest: Manifest
  /** The plugin's own folder, inside the project it was installed into. */
  readonly folder: string
  /** A folder for whatever is needed until it is kept or discarded. */
  readonly scratch: string
  /** Moves it to where it stays. */
  keep(): Promise<InstalledVersion>
  /** Removes what was not kept. */
  discard(): Promise<void>
}

/**
 * Fetches a package without running anything of it. Throws a readable error when it is no plugin, or none for this
 * gateway's contract; nothing is left of it then.
 */
export async function fetchCandidate(spec: string, dataDir: string): Promise<Candidate> {
  const root = packagesFolder(dataDir)
  await mkdir(root, { recursive: true })
  const temporary = await mkdtemp(path.join(root, '.adding-'))
  const discard = (): Promise<void> => rm(temporary, { recursive: true, force: true })
  try {
    const archive = await pack(spec, temporary)
    if (!namePattern.test(archive.name) || semver.valid(archive.version) === null)
      throw new Error(`${spec} has no sound name and version: ${archive.name} ${archive.version}`)
    const project = path.join(temporary, 'project')
    await mkdir(project)
    await writeFile(path.join(project, 'package.json'), '{ "private": true }\n')
    await install(archive.file, project)
    const within = path.join('node_modules', archive.name)
    const folder = path.join(project, within)
    const id = await idOf(folder, archive.name)
    const { manifest, problem } = await read(folder, 'package', id)
    if (!manifest || problem !== undefined)
      throw new Error(`${archive.name} is not a plugin for this gateway: ${problem}`)
    const keep = async (): Promise<InstalledVersion> => {
      const at = path.join(id, `${archive.version}-${shortOf(archive.integrity)}`)
      const { hash } = await readContent(folder)
      await mkdir(path.join(root, id), { recursive: true })
      await rm(path.join(root, at), { recursive: true, force: true })
      await rename(project, path.join(root, at))
      return {
        version: archive.version,
        integrity: archive.integrity,
        content: hash,
        folder: path.join(at, within),
        permissions: [...manifest.permissions],
        installed_at: new Date().toISOString(),
      }
    }
    return { id, archive, manifest, folder, scratch: temporary, keep, discard }
  } catch (error) {
    await discard()
    throw error
  }
}

/** Enough of an integrity hash to tell two archives of one version apart, fit for a file's name. */
const shortOf = (integrity: string): string =>
  integrity
    .replace(/^sha\d+-/, '')
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .slice(0, 10)

/** Removes the versions of a plugin that are not among these. */
export async function prune(
  dataDir: string,
  id: string,
  kept: readonly (InstalledVersion | undefined)[],
): Promise<void> {
  const folder = path.join(packagesFolder(dataDir), id)
  const names = kept.map((version) => version?.folder.split(path.sep)[1])
  const there = await readdir(folder).catch(() => [])
  for (const name of there)
    if (!names.includes(name)) await rm(path.join(folder, name), { recursive: true, force: true })
}
