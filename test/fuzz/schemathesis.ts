import { execFile } from 'node:child_process'
import { access, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Pinned: another version has other ideas, and CI is to fail because of a change here only. */
const version = '4.32.5'
const cache = path.resolve('node_modules/.cache/schemathesis')
/** A slow machine needs minutes, while tests run beside it. */
const installMs = 300_000

/** The command, installed on first use in the folder of npm's caches; or why it cannot be had here. */
export async function schemathesis(): Promise<{ readonly command: string } | { readonly missing: string }> {
  const command = path.join(cache, version, 'bin', 'schemathesis')
  if (await exists(command)) return { command }
  const python = await findPython()
  if (python === undefined) return { missing: 'there is no Python 3.10 or later' }
  const folder = path.join(cache, version)
  try {
    // pip takes what a killed installation has left for installed, also where its command was not written yet.
    await rm(folder, { recursive: true, force: true })
    await run(python, ['-m', 'venv', folder], { timeout: installMs })
    const install = ['-m', 'pip', 'install', '--quiet', '--no-compile', `schemathesis==${version}`]
    await run(path.join(folder, 'bin', 'python'), install, { timeout: installMs })
    await access(command)
    return { command }
  } catch (error) {
    const { killed, message } = error as Error & { killed?: boolean }
    const why = killed ? 'that took too long' : firstLine(message)
    return { missing: `it cannot be installed: ${why}` }
  }
}

async function findPython(): Promise<string | undefined> {
  for (const name of ['python3', 'python']) {
    const check = 'import sys, venv; sys.exit(sys.version_info < (3, 10))'
    const isFine = await run(name, ['-c', check]).then(
      () => true,
      () => false,
    )
    if (isFine) return name
  }
  return undefined
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )

const firstLine = (text: string): string => text.trim().split('\n').at(-1)!.slice(0, 200)
