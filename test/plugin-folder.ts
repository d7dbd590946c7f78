import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** What a plugin's folder holds: files by their path, and what its manifest says besides the usual. */
export interface PluginFiles {
  readonly manifest?: Record<string, unknown>
  readonly files: Readonly<Record<string, string>>
}

/** Writes a plugin's folder below `root`, replacing what is there; returns where it is. */
export async function writePlugin(
  root: string,
  id: string,
  { manifest, files }: PluginFiles,
): Promise<string> {
  const folder = path.join(root, id)
  await rm(folder, { recursive: true, force: true })
  const usual = { id, kind: 'module', version: '1.0.0', title: id, description: id }
  const placed = manifest?.kind && manifest.kind !== 'module' ? {} : { stage: 'limits', failure: 'open' }
  const content = { ...usual, ...placed, enabled: true, ...manifest }
  const all = { 'manifest.json': JSON.stringify(content), ...files }
  for (const [name, text] of Object.entries(all)) {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, text)
  }
  return folder
}

/** Code of a module without imports: `setup` is the body of its setup. */
export const moduleCode = (setup: string): string =>
  `const settings = { safeParse: (data) => ({ success: true, data }) }
export default { settings, setup(ctx) { ${setup} } }
`

/** Code of a module that says something in a header of every answer. */
export const headerCode = (name: string, value: string): string =>
  moduleCode(`return { request(call) { call.trace.header('${name}', ${JSON.stringify(value)}) } }`)
