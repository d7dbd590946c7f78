import { readdir } from 'node:fs/promises'
import path from 'node:path'
import satisfies from 'semver/functions/satisfies.js'
import { apiVersion, type Discovered, type Manifest, type Source } from '../../kernel/discovery/manifest.ts'
import { explain } from '../../kit/explain.ts'
import { entryOf, manifestFileOf, readManifest } from './manifest-file.ts'
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
  const ofFile = async (problem: string): Promise<string> => `${await manifestFileOf(folder)}: ${problem}`
  try {
    const manifest = manifestSchema.parse(await readManifest(folder))
    const wrong = mismatch(manifest, id)
    return { ...found, manifest, problem: wrong ? await ofFile(wrong) : withoutCode(manifest, entry) }
  } catch (error) {
    return { ...found, manifest: undefined, problem: await ofFile(explain(error)) }
  }
}

function mismatch(manifest: Manifest, id: string): string | undefined {
  if (manifest.id !== id) return `id is "${manifest.id}" but the folder is "${id}"`
  if (satisfies(apiVersion, manifest.api)) return undefined
  return `written for contract ${manifest.api}, this gateway has ${apiVersion}`
}

function withoutCode(manifest: Manifest, entry: string | undefined): string | undefined {
  if (!entry && !(manifest.kind === 'provider' && manifest.provider)) return 'it has no index.ts or index.js'
  return undefined
}
