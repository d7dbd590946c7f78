import { cp, glob, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What is started or imported by its place; a file of all others lies in a chunk, where those that need it share it. */
const entries = [
  'bin/main.ts',
  'gateway/threads/thread.ts',
  'isolation/guest.ts',
  'plugins/models/tokens/worker.ts',
  '{contract,kit,plugins/upstream/kit}/index.ts',
  '{modules,plugins}/*/index.ts',
  'test/testing.ts',
]

/**
 * Threads that take little of the gateway. Each is a file of its own with just that: a chunk that it shared would bring what the others
 * in it need, and the thread would have it in memory once more.
 */
const small = ['kit/json/schema-worker.ts', 'network/posting.ts', 'plugins/trust/ledger/linking/worker.ts']

/** Folders with files beside the code, which it reads at the place where its source has them. */
const withAssets = ['bin/cli', 'kernel', 'kit', 'modules', 'plugins']

/**
 * Writes the gateway as few files of JavaScript into a folder, with what plugins ship beside their code and a package.json. A
 * process or worker that loads them has started in half the time that the sources take. Code that runs only when something is
 * asked for stays in files of its own, and so do packages. Only zod lies in the chunks: every worker needs all of it.
 */
export async function bundle(folder: string): Promise<void> {
  await write(folder, await Array.fromAsync(glob(entries, { cwd: root })), { zod: 'zod' })
  for (const file of small) await write(folder, [file])
  for (const name of withAssets) {
    const from = path.join(root, name)
    await cp(from, path.join(folder, name), {
      recursive: true,
      filter: (file) => isAsset(path.relative(from, file)),
    })
  }
  await mkdir(folder, { recursive: true })
  await writeFile(path.join(folder, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`)
}

/** Writes files with all of ours that they import. A single one lies in one file, without what only others take of the same files. */
async function write(
  folder: string,
  files: readonly string[],
  packages: Readonly<Record<string, string>> = {},
): Promise<void> {
  const isOne = files.length === 1
  const sources = files.map((file) => [file.replace(/\.ts$/, ''), path.join(root, file)])
  const bundled = await rolldown({
    input: { ...Object.fromEntries(sources), ...packages },
    cwd: root,
    platform: 'node',
    external: (name) => !/^(\.|#|\/|zod$)/.test(name),
    treeshake: { moduleSideEffects: !isOne },
    plugins: [keepPlaces],
  })
  await bundled.write({
    dir: folder,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    codeSplitting: !isOne,
    // Node keeps the text of what it has loaded, with two bytes for each character where one of them needs that.
    charset: 'ascii',
    comments: { legal: true, annotation: true, jsdoc: false },
  })
  await bundled.close()
}

/** Lets a file that lies in a chunk find what it looks for from its own place. */
const keepPlaces: Plugin = {
  name: 'keep-places',
  transform(code, id) {
    if (!code.includes('import.meta.url')) return
    const place = path.relative(root, id).replace(/\.ts$/, '.js')
    return code.replaceAll('import.meta.url', `PLACE_OF(${JSON.stringify(place)})`)
  },
  renderChunk(code, { fileName }) {
    return code.replace(/\bPLACE_OF\("([^"]+)"\)/g, (_, place) => {
      const way = path.relative(path.dirname(fileName), place)
      return `new URL(${JSON.stringify(way)}, import.meta.url).href`
    })
  },
}

function isAsset(file: string): boolean {
  return !/\.(ts|md)$/.test(file) && !file.split(path.sep).includes('fixtures')
}

/** Where the files look for their version, and for what plugins share with the gateway. */
async function manifest(): Promise<object> {
  const { name, version, license, type, engines } = JSON.parse(
    await readFile(path.join(root, 'package.json'), 'utf8'),
  ) as Record<string, unknown>
  const imports = {
    '#kernel': './contract/index.js',
    '#kit': './kit/index.js',
    '#provider': './plugins/upstream/kit/index.js',
    '#zod': './zod.js',
  }
  return { name, version, license, type, engines, imports }
}

if (import.meta.main) await bundle(process.argv[2] as string)
