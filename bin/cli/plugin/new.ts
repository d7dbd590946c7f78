import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { ownPlugins } from '../../../gateway/discovery/discovery.ts'
import { idPattern } from '../../../kernel/discovery/manifest.ts'
import { type Kind, scaffold } from './scaffold.ts'

interface NewOptions {
  readonly kind: Kind
  readonly dir: string
}

/** Writes a folder with a plugin that passes its checks as it is: exit code 1, and nothing written, for names it cannot have. */
export async function create(id: string, { kind, dir }: NewOptions): Promise<void> {
  const folder = path.resolve(dir, id)
  const problem = (await nameProblem(id)) ?? (await folderProblem(folder))
  if (problem) {
    console.error(problem)
    process.exitCode = 1
    return
  }
  await mkdir(folder, { recursive: true })
  for (const [name, text] of await scaffold(id, kind)) await writeFile(path.join(folder, name), text)
  const shown = path.relative('', folder) || '.'
  const tests = findsPackage(folder)
    ? `Run its tests: cd ${shown} && node --test`
    : 'Its tests need the package switchyard, which is not installed here: docs/plugins/tutorial.md says how to make and install it.'
  console.log(
    [
      `${shown} contains a working ${kind}. ${tests}`,
      `See it at work: ${program()} plugin dev ${shown}`,
      `Run the checks for plugins: ${program()} plugin check ${shown}`,
    ].join('\n'),
  )
}

/** How this program was called, so that what is shown can be pasted. */
const program = (): string =>
  ({ switchyard: 'npm run switchyard --', npx: 'npx switchyard' })[process.env.npm_lifecycle_event ?? ''] ??
  'switchyard'

/** Whether code in a folder can import the package. */
function findsPackage(folder: string): boolean {
  try {
    createRequire(path.join(folder, 'index.js')).resolve('switchyard/package.json')
    return true
  } catch {
    return false
  }
}

async function nameProblem(id: string): Promise<string | undefined> {
  if (!idPattern.test(id)) {
    return `"${id}" cannot be a plugin's name: use at most 64 lower case letters, digits and dashes, with a letter first.`
  }
  const own = await ownPlugins()
  return own.some((plugin) => plugin.id === id)
    ? `The gateway already has a plugin called ${id}: use another name.`
    : undefined
}

async function folderProblem(folder: string): Promise<string | undefined> {
  const there = await readdir(folder).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? [] : [folder],
  )
  return there.length > 0 ? `${folder} exists already and is not empty.` : undefined
}
