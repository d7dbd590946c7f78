import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { compileSources } from '../bin/compile.ts'
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

/** Packs this project and installs it: npm says that it can, and what it would fetch is taken from this project's packages. */
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
  // So that the build before the packing finds them: `npm run check` looks for errors of types, which takes most of such a build.
  await compileSources({ isChecked: true })
  await succeed(['npm', 'pack', '--pack-destination', folder], process.cwd())
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))!
  const packed = (await succeed(['tar', 'tzf', tarball])).trim().split('\n')
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module", "private": true }\n')
  await unpack(path.join(folder, tarball), path.join(folder, 'node_modules'), succeed)
  await demandInstallable(folder, succeed)
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

/**
 * Puts the package into a folder of packages, with its commands, and beside it the packages that it names as dependencies, which
 * are links to those of this project: npm would have to fetch the same. What it needs and does not name is not there.
 */
async function unpack(tarball: string, modules: string, succeed: Outside['succeed']): Promise<void> {
  const own = path.join(modules, 'switchyard')
  await mkdir(own, { recursive: true })
  await succeed(['tar', 'xzf', tarball, '--strip-components=1', '-C', own])
  const { dependencies, bin } = JSON.parse(await readFile(path.join(own, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
    bin: Record<string, string>
  }
  const link = async (target: string, at: string): Promise<void> => {
    await mkdir(path.dirname(at), { recursive: true })
    await symlink(target, at)
  }
  for (const name of Object.keys(dependencies))
    await link(path.resolve('node_modules', name), path.join(modules, name))
  for (const [command, file] of Object.entries(bin)) {
    await chmod(path.join(own, file), 0o755)
    await link(path.join(own, file), path.join(modules, '.bin', command))
  }
}

/** Rejects when npm could not install the package, as when what it depends on contradicts each other. */
async function demandInstallable(folder: string, succeed: Outside['succeed']): Promise<void> {
  // Of a whole archive npm would unpack every file, several times, to read the only one that counts here.
  const about = path.join(folder, 'about', 'package.json')
  await mkdir(path.dirname(about))
  await copyFile(path.join(folder, 'node_modules', 'switchyard', 'package.json'), about)
  await copyFile('package-lock.json', path.join(folder, 'package-lock.json'))
  const nothing = ['--package-lock-only', '--install-links', '--ignore-scripts']
  await succeed([
    'npm',
    'install',
    ...nothing,
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    './about',
    'zod',
  ])
}

/** This process's, but with the runtime and the programs of the folder first, and nothing of the script that we run in. */
function environment(folder: string): NodeJS.ProcessEnv {
  const { npm_config_local_prefix, INIT_CWD, NODE_OPTIONS, VITEST, ...rest } = process.env
  const places = [path.dirname(process.execPath), path.join(folder, 'node_modules', '.bin'), rest.PATH]
  // What is compiled of this folder is of no use to anybody once it is gone.
  const compiled = { NODE_COMPILE_CACHE: path.join(folder, 'compiled') }
  return { ...rest, ...compiled, PATH: places.join(path.delimiter) }
}
