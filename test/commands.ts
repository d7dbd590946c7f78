import { execFile } from 'node:child_process'
import { createCli } from '../bin/cli/cli.ts'
import { main } from './built.ts'
import { inherited } from './process.ts'

/** How a command of the command line ended, and what it printed. */
export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command to its end, in a folder and with this environment alone. */
export type Run = (cwd: string, env: Readonly<Record<string, string>>, ...args: string[]) => Promise<Ended>

export const environment = (env: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...inherited,
  HOME: process.env.HOME,
  ...env,
})

/** In a process of its own, as people do. */
export const runApart: Run = (cwd, env, ...args) =>
  new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { cwd, env: environment(env) }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    )
  })

/** In this process, which is the command's until that ends, so one at a time. Not for commands that end the process. */
export const runHere: Run = async (cwd, env, ...args) => {
  const { argv, exitCode } = process
  const before = { cwd: process.cwd(), env: process.env, log: console.log, error: console.error }
  const [out, err] = [[''], ['']]
  try {
    process.chdir(cwd)
    process.env = environment(env)
    process.argv = [process.execPath, main, ...args]
    process.exitCode = undefined
    console.log = (...said) => void out.push(`${said.join(' ')}\n`)
    console.error = (...said) => void err.push(`${said.join(' ')}\n`)
    await createCli().parseAsync()
    return { code: Number(process.exitCode ?? 0), out: out.join(''), err: err.join('') }
  } finally {
    process.chdir(before.cwd)
    Object.assign(process, { env: before.env, argv, exitCode })
    Object.assign(console, { log: before.log, error: before.error })
  }
}
