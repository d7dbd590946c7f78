import { readdir } from 'node:fs/promises'
import path from 'node:path'
import satisfies from 'semver/functions/satisfies.js'
import {
  apiVersion,
  type Discovered,
  explain,
  type Manifest,
  type Source,
} from '../../kernel/discovery/manifest.ts'
import { entryOf, readManifest } from './manifest-file.ts'
import { manifestSchema } from './manifest-schema.ts'

/** Reads the manifest of every folder below `root`. A broken one is reported in its place and does not affect others. */
export async function discover(root: string, source: Source): Promise<Discovered[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
  const folders = entries.filter((entry) => entry.isDirectory() && !/^[._]/.test(entry.name))
  return Promise.all(
    folders
      .map(({ name }) => name)
      .sort()
      .map((name) => read(path.join(root, name), source)),
  )
}

/** Reads one plugin's folder; `id` is what its manifest must call it. */
export async function read(folder: string, source: Source, id = path.basename(folder)): Promise<Discovered> {
  const entry = await entryOf(folder)
  const found = { id, folder, source, entry }
  try {
    const manifest = manifestSchema.parse(await readManifest(folder))
    return { ...found, manifest, problem: mismatch(manifest, found) }
  } catch (error) {
    return { ...found, manifest: undefined, problem: `manifest.json: ${explain(error)}` }
  }
}

function mismatch(manifest: Manifest, { id, entry }: Pick<Discovered, 'id' | 'entry'>): string | undefined {
  if (manifest.id !== id) return `manifest.json: id is "${manifest.id}" but the folder is "${id}"`
  if (!satisfies(apiVersion, manifest.api)) {
    return `manifest.json: written for contract ${manifest.api}, this gateway has ${apiVersion}`
  }
  if (!entry && !(manifest.kind === 'provider' && manifest.provider)) return 'it has no index.ts or index.js'
  return undefined
}
