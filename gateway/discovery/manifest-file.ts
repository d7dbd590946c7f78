import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'

interface PackageJson {
  readonly name?: unknown
  readonly version?: unknown
  readonly description?: unknown
  readonly main?: unknown
  readonly exports?: unknown
  readonly switchyard?: unknown
}

/**
 * The manifest in a plugin's folder, not yet checked: `manifest.json`, or the key `switchyard` of `package.json`, which takes
 * version and description from beside it. Throws when there is neither.
 */
export async function readManifest(folder: string): Promise<unknown> {
  const own = await textOf(path.join(folder, 'manifest.json'))
  if (own !== undefined) return JSON.parse(own)
  const { switchyard, version, description } = (await readPackage(folder)) ?? {}
  if (typeof switchyard !== 'object' || switchyard === null)
    throw new Error('there is no manifest.json, and no key "switchyard" in a package.json')
  return { ...defined({ version, description }), ...switchyard }
}

/** The file that has a plugin's manifest, or should have it: `package.json` where there is one alone. */
export async function manifestFileOf(folder: string): Promise<'manifest.json' | 'package.json'> {
  const [own, other] = await Promise.all(
    ['manifest.json', 'package.json'].map((name) => isFile(path.join(folder, name))),
  )
  return other && !own ? 'package.json' : 'manifest.json'
}

/**
 * The file that a plugin's code begins with: what its package.json names as `exports` or `main`, else `index.js` or
 * `index.ts`. Undefined when there is none; never a file outside the folder.
 */
export async function entryOf(folder: string): Promise<string | undefined> {
  const { exports, main } = (await readPackage(folder).catch(() => undefined)) ?? {}
  for (const name of [exported(exports), main, 'index.js', 'index.ts']) {
    if (typeof name !== 'string') continue
    const file = path.resolve(folder, name)
    if (file.startsWith(folder + path.sep) && (await isFile(file))) return file
  }
  return undefined
}

/** A package.json, as far as it is an object; undefined when there is none. */
async function readPackage(folder: string): Promise<PackageJson | undefined> {
  const text = await textOf(path.join(folder, 'package.json'))
  const value: unknown = text === undefined ? undefined : JSON.parse(text)
  return typeof value === 'object' && value !== null ? value : undefined
}

/** The target of `exports` for the package itself, by the conditions of an import in Node. */
function exported(exports: unknown): unknown {
  if (typeof exports !== 'object' || exports === null) return exports
  const { '.': self, node, import: imported, default: other } = exports as Record<string, unknown>
  return [self, node, imported, other].filter((value) => value !== undefined).map(exported)[0]
}

const defined = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

const textOf = (file: string): Promise<string | undefined> => readFile(file, 'utf8').catch(() => undefined)

const isFile = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isFile(),
    () => false,
  )
