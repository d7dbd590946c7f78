import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileSources } from './compile.ts'

/** Makes `dist`: JavaScript and types of everything, what plugins ship beside their code, and a package.json. */
const root = fileURLToPath(new URL('..', import.meta.url))
const dist = path.join(root, 'dist')

// After `npm run check` nothing has to look for errors a second time.
const compiled = await compileSources({ isChecked: process.argv.includes('--checked') })
await rm(dist, { recursive: true, force: true })
await cp(compiled, dist, { recursive: true })
for (const folder of ['bin/cli', 'kernel', 'kit', 'modules', 'plugins']) {
  const from = path.join(root, folder)
  await cp(from, path.join(dist, folder), {
    recursive: true,
    filter: (file) => isAsset(path.relative(from, file)),
  })
}
await writeFile(path.join(dist, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`)

function isAsset(file: string): boolean {
  return !/\.(ts|md)$/.test(file) && !file.split(path.sep).includes('fixtures')
}

/** Where the built files look for their version, and for the contract under its name. */
async function manifest(): Promise<object> {
  const { name, version, license, type, engines } = JSON.parse(
    await readFile(path.join(root, 'package.json'), 'utf8'),
  ) as Record<string, unknown>
  const imports = {
    '#kernel': './contract/index.js',
    '#kit': './kit/index.js',
    '#provider': './plugins/upstream/kit/index.js',
  }
  return { name, version, license, type, engines, imports }
}
