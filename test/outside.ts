import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type GatewayProcess, listening } from './process.ts'

/** How a command ended, with everything that it printed. */
export interface Ended {
  readonly code: number
  readonly output: string
}

/** A folder outside the repository in which this project is installed from its package, as strangers have it. */
export interface Outside {
  readonly folder: string
  /** Names of the files in the package. */
  readonly packed: readonly string[]
  /** Runs a program there, or in a folder below, with the programs of its packages in reach. */
  run(command: readonly [string, ...string[]], below?: string): Promise<Ended>
  /** The same; rejects when it fails. */
  succeed(command: readonly [string, ...string[]], below?: string): Promise<string>
  /** Starts a program in a folder below, in a process group of its own. */
  spawn(
    command: readonly [string, ...string[]],
    below: string,
    env?: Readonly<Record<string, string>>,
  ): ChildProcess
  /** Runs `switchyard start` in a folder below, on a free port; resolves when it listens. */
  start(below: string, env?: Readonly<Record<string, string>>): Promise<GatewayProcess>
  remove(): Promise<void>
}

/** Packs this project and installs it. */
export async function installOutside(): Promise<Outside> {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-outside-'))
  const run: Outside['run'] = ([program, ...args], below = '') =>
    new Promise((resolve) => {
      const cwd = path.resolve(folder, below)
      execFile(program, args, { cwd, env: environment(folder) }, (error, out, err) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, output: out + err })
      })
    })
  const succeed: Outside['succeed'] = async (command, below) => {
    const { code, output } = await run(command, below)
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${output}`)
    return output
  }
  await succeed(['npm', 'pack', '--pack-destination', folder], process.cwd())
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))!
  const packed = (await succeed(['tar', 'tzf', tarball])).trim().split('\n')
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module", "private": true }\n')
  const dependencies = await dependenciesKept()
  await dependencies.lay(folder)
  await succeed(['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', `./${tarball}`, 'zod'])
  await dependencies.keep(folder)
  const launch: Outside['spawn'] = ([program, ...args], below, env) =>
    spawn(program, args, {
      cwd: path.resolve(folder, below),
      env: { ...environment(folder), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that a signal reaches what it has started.
      detached: true,
    })
  const start: Outside['start'] = (below, env) => {
    const child = launch(['switchyard', 'start'], below, { SERVICE_PORT: '0', ...env })
    return listening(child, (signal) => process.kill(-child.pid!, signal))
  }
  return {
    folder,
    spawn: launch,
    start,
    packed: packed.map((name) => name.replace(/^package\//, '')),
    run,
    succeed,
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** What npm has installed before, with the same versions of all packages: npm then has our own left to install. */
async function dependenciesKept() {
  const versions = createHash('sha256')
    .update(await readFile('package-lock.json'))
    .digest('hex')
  const all = path.resolve('node_modules/.cache/outside')
  const kept = path.join(all, versions)
  const parts = ['node_modules', 'package-lock.json']
  const isThere = existsSync(kept)
  const copy = (from: string, to: string): Promise<unknown> =>
    Promise.all(
      parts.map((name) =>
        cp(path.join(from, name), path.join(to, name), { recursive: true, verbatimSymlinks: true }),
      ),
    )
  return {
    async lay(folder: string): Promise<void> {
      if (isThere) await copy(kept, folder)
    },
    async keep(folder: string): Promise<void> {
      if (isThere) return
      await rm(all, { recursive: true, force: true })
      const unfinished = `${kept}.${process.pid}`
      await mkdir(unfinished, { recursive: true })
      await copy(folder, unfinished)
      await rm(path.join(unfinished, 'node_modules', 'switchyard'), { recursive: true })
      await rename(unfinished, kept)
    },
  }
}

/** This process's, but with the runtime and the programs of the folder first, and nothing of the script that we run in. */
function environment(folder: string): NodeJS.ProcessEnv {
  const { npm_config_local_prefix, INIT_CWD, NODE_OPTIONS, VITEST, ...rest } = process.env
  const places = [path.dirname(process.execPath), path.join(folder, 'node_modules', '.bin'), rest.PATH]
  // What is compiled of this folder is of no use to anybody once it is gone.
  const compiled = { NODE_COMPILE_CACHE: path.join(folder, 'compiled') }
  return { ...rest, ...compiled, PATH: places.join(path.delimiter) }
}
