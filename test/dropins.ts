import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** A plugin of a test: the body of its `setup(ctx)`, and what its manifest says besides the usual. */
export interface Dropin {
  readonly setup: string
  readonly manifest?: Readonly<Record<string, unknown>>
  /** What stands before the definition. */
  readonly before?: string
}

/** Settings that take anything, without a package to import. */
const settings = '{ safeParse: (data) => ({ success: true, data }), parse: (data) => data }'

/** A folder of modules that are switched on, for `plugin_dirs`. */
export async function writeDropins(
  plugins: Readonly<Record<string, Dropin>>,
): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-plugins-'))
  for (const [id, { setup, manifest, before = '' }] of Object.entries(plugins)) {
    const at = path.join(folder, id)
    await mkdir(at)
    const usual = {
      id,
      kind: 'module',
      version: '1.0.0',
      title: id,
      description: id,
      stage: 'limits',
      failure: 'open',
      enabled: true,
    }
    await writeFile(path.join(at, 'manifest.json'), JSON.stringify({ ...usual, ...manifest }))
    await writeFile(
      path.join(at, 'index.js'),
      `${before}\nexport default { settings: ${settings}, setup(ctx) { ${setup} } }\n`,
    )
  }
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}
