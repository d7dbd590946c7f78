import { execFileSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { glob, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const kept = path.join(root, 'node_modules', '.cache', 'declarations')

/** Everything that decides what the compiler writes. */
const inputs = [
  '{accounts,bin,config,contract,gateway,isolation,kernel,kit,network,shadow,staging,storage,workers,modules,plugins,test}/**/*.{ts,json}',
  '{package-lock,tsconfig,tsconfig.build}.json',
]

/**
 * A folder with the declarations of the sources as they are now. The compiler runs once for each state of them: a build, the
 * package and the reports of the contract need the same files. Throws when it finds errors; it looks for none in sources that
 * are checked, or that were compiled before.
 */
export async function compileSources({ isChecked = false } = {}): Promise<string> {
  const state = await stateOf(inputs)
  const folder = path.join(kept, state)
  if (existsSync(folder)) return folder
  await mkdir(kept, { recursive: true })
  const older = (await readdir(kept)).filter((name) => name !== state && !name.startsWith('unfinished-'))
  await Promise.all(older.map((name) => rm(path.join(kept, name), { recursive: true, force: true })))
  // `dist` is a copy of it, and all who may read the sources may read that: a folder of mkdtemp is for its maker alone.
  const unfinished = path.join(kept, `unfinished-${randomUUID()}`)
  await mkdir(unfinished)
  try {
    const compiler = path.join(root, 'node_modules', '.bin', 'tsc')
    const options = ['--emitDeclarationOnly', '--outDir', unfinished, ...(isChecked ? ['--noCheck'] : [])]
    execFileSync(compiler, ['-p', 'tsconfig.build.json', ...options], {
      cwd: root,
      stdio: 'inherit',
    })
    // Another process may have been faster with the same.
    await rename(unfinished, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error
    })
    return folder
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/** A hash of the names and contents of files, without tests. */
export async function stateOf(patterns: readonly string[]): Promise<string> {
  const files = await Array.fromAsync(
    glob(patterns, { cwd: root, exclude: (name) => name.endsWith('.test.ts') }),
  )
  const hash = createHash('sha256')
  for (const file of files.sort()) hash.update(`${file}\0`).update(await readFile(path.join(root, file)))
  return hash.digest('hex')
}
