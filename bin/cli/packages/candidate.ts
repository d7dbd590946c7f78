import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import semver from 'semver'
import { hashTree, type InstalledVersion, packagesFolder } from '../../../gateway/discovery/installed.ts'
import { idOf, namePattern } from '../../../gateway/discovery/plugin-folder.ts'
import { read } from '../../../gateway/discovery/read.ts'
import type { Manifest } from '../../../kernel/discovery/manifest.ts'
import { type Archive, install, pack } from './npm.ts'

/** A package that was fetched and unpacked beside the installed ones, and is not one of them yet. */
export interface Candidate {
  readonly id: string
  readonly archive: Archive
  readonly manifest: Manifest
  /** The plugin's own folder, inside the project it was installed into. */
  readonly folder: string
  /** A folder for whatever is needed until it is kept. */
  readonly scratch: string
  /** Moves it to where it stays. */
  keep(): Promise<InstalledVersion>
}

/**
 * Fetches a package without running anything of it. Throws a readable error when it is no plugin, or none for this gateway's
 * contract. A package that is not kept is a leftover.
 */
export async function fetchCandidate(spec: string, dataDir: string, limitMs?: number): Promise<Candidate> {
  const packages = packagesFolder(dataDir)
  await mkdir(packages, { recursive: true })
  const scratch = await mkdtemp(path.join(packages, '.adding-'))
  const archive = await pack(spec, scratch, limitMs)
  const { name, version, integrity } = archive
  if (!namePattern.test(name) || semver.valid(version) === null)
    throw new Error(`${spec} has no valid name and version: ${name} ${version}`)
  const project = path.join(scratch, 'project')
  await mkdir(project)
  await writeFile(path.join(project, 'package.json'), '{ "private": true }\n')
  await install(archive.file, project, limitMs)
  const within = path.join('node_modules', name)
  const folder = path.join(project, within)
  const id = await idOf(folder, name)
  const { manifest, problem } = await read(folder, 'package', id)
  if (!manifest || problem !== undefined)
    throw new Error(`${name} is not a plugin for this gateway: ${problem}`)
  const keep = async (): Promise<InstalledVersion> => {
    // A folder of its own, also for a version that is there already: the record names the one or the other.
    const root = path.join(id, `${version}-${randomBytes(4).toString('hex')}`)
    const content = await hashTree(project)
    await mkdir(path.join(packages, id), { recursive: true })
    await rename(project, path.join(packages, root))
    const at = { root, folder: path.join(root, within) }
    const installed_at = new Date().toISOString()
    const kept = { ...manifest, permissions: [...manifest.permissions] }
    return { package: name, spec, version, integrity, content, ...at, manifest: kept, installed_at }
  }
  return { id, archive, manifest, folder, scratch, keep }
}
