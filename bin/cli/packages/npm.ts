import path from 'node:path'
import { z } from 'zod'
import { runProgram } from './program.ts'

/** The default time limit of one npm command, in milliseconds. */
const usualMs = 5 * 60_000

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
export async function pack(spec: string, into: string, limitMs?: number): Promise<Archive> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', into, '--', spec]
  const [archive] = packed.parse(JSON.parse(await npm(args, process.cwd(), limitMs)))
  const { name, version, integrity, filename } = archive!
  return { name, version, integrity, file: path.join(into, path.basename(filename)) }
}

/**
 * Installs an archive and what it depends on below a folder, running none of their scripts. Peers are left out: the
 * gateway has them.
 */
export async function install(archive: string, into: string, limitMs?: number): Promise<void> {
  const quiet = ['--no-audit', '--no-fund', '--install-links']
  const omitted = ['--ignore-scripts', '--omit=dev', '--omit=peer', '--legacy-peer-deps']
  await npm(['install', ...quiet, ...omitted, '--', archive], into, limitMs)
}

/** A line of npm's with words of its own: codes, calls and paths by themselves say nothing. */
const words = /^npm (?:error|ERR!) (?!(?:code|syscall|path|dest|errno) )(?:enoent )?(.+)/

/** Runs npm and returns what it prints. Throws with npm's own first words when it fails, with its last when it takes too long. */
async function npm(args: readonly string[], cwd: string, limitMs = usualMs): Promise<string> {
  const name = `npm ${args[0]}`
  const { code, out, err } = await runProgram('npm', args, { name, cwd, limitMs }).catch((error) => {
    throw error.code === 'ENOENT' ? new Error('npm is not installed; it fetches and unpacks packages') : error
  })
  if (code === 0) return out
  const said = err.split('\n').flatMap((line) => words.exec(line)?.[1] ?? [])
  throw new Error(`${name} failed: ${said[0] ?? 'without an error message'}`)
}
