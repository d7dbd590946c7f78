import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'

const run = promisify(execFile)

const packed = z
  .array(z.object({ name: z.string(), version: z.string(), integrity: z.string(), filename: z.string() }))
  .length(1)

/** An archive of a package, as npm made or fetched it. */
export interface Archive {
  readonly name: string
  readonly version: string
  /** SHA-512 of the archive, as npm writes it. */
  readonly integrity: string
  readonly file: string
}

/** Puts the archive of a package into a folder; `spec` is what npm takes: a name with a range, an archive, a folder. */
export async function pack(spec: string, into: string): Promise<Archive> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', into, '--', spec]
  const [archive] = packed.parse(JSON.parse(await npm(args, process.cwd())))
  const { name, version, integrity, filename } = archive!
  return { name, version, integrity, file: path.join(into, path.basename(filename)) }
}

/**
 * Installs an archive and what it depends on below a folder, running none of their scripts. Peers are left out: the
 * gateway has them.
 */
export async function install(archive: string, into: string): Promise<void> {
  const quiet = ['--no-audit', '--no-fund', '--install-links']
  const omitted = ['--ignore-scripts', '--omit=dev', '--omit=peer', '--legacy-peer-deps']
  await npm(['install', ...quiet, ...omitted, '--', archive], into)
}

/** Runs npm and returns what it prints. Throws with npm's own first words when it fails. */
async function npm(args: readonly string[], cwd: string): Promise<string> {
  try {
    const { stdout } = await run('npm', [...args], { cwd, maxBuffer: 64 * 2 ** 20 })
    return stdout
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string }
    if (code === 'ENOENT') throw new Error('npm is not installed; it fetches and unpacks packages')
    const said = stderr
      .split('\n')
      .flatMap((line) => /^npm (?:error|ERR!) (?!code)(.+)/.exec(line)?.[1] ?? [])
    throw new Error(`npm ${args[0]} failed: ${said[0] ?? 'it does not say why'}`, { cause: error })
  }
}
