import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { main } from './built.ts'
import { environment, type Run, runApart, runHere } from './commands.ts'

export interface ShoutOptions {
  readonly permissions?: readonly string[]
  readonly setup?: string
  readonly api?: string
  readonly dependencies?: Readonly<Record<string, string>>
  /** The plugin's id; `shout` without it. */
  readonly id?: string
  readonly manifest?: Readonly<Record<string, unknown>>
  /** The file of its code, instead of the usual one. */
  readonly code?: string
  /** Whether its code imports nothing, so that a gateway inside a test can load it. */
  readonly plain?: boolean
}

/**
 * A package in a folder below `root`, whose plugin answers `GET /api/<id>` with its version; its scripts would write a
 * file `ran` there.
 */
export async function shoutPackage(
  root: string,
  version: string,
  options: ShoutOptions = {},
): Promise<string> {
  const { id = 'shout' } = options
  const at = path.join(root, `${id}-${version}`)
  await mkdir(at, { recursive: true })
  const trace = `node -e "require('fs').writeFileSync('${path.join(root, 'ran')}', '')"`
  const about = {
    name: `@acme/switchyard-${id}`,
    version,
    description: 'Says its version.',
    type: 'module',
    exports: './index.ts',
    peerDependencies: { switchyard: '*', zod: '*' },
    dependencies: options.dependencies ?? {},
    scripts: { prepack: trace, prepare: trace, install: trace, postinstall: trace },
    switchyard: {
      id,
      kind: 'area',
      title: 'Shout',
      api: options.api ?? '^3.0.0',
      permissions: options.permissions ?? ['routes'],
      ...options.manifest,
    },
  }
  await writeFile(path.join(at, 'package.json'), JSON.stringify(about))
  await writeFile(
    path.join(at, 'index.ts'),
    options.code ?? (options.plain ? plainCodeOf : codeOf)(id, version, options.setup ?? ''),
  )
  return at
}

const codeOf = (
  id: string,
  version: string,
  setup: string,
): string => `import { defineArea } from 'switchyard'
import { z } from 'zod'
const version: string = '${version}'
export default defineArea({
  settings: z.strictObject({ loud: z.boolean().default(false).meta({ title: 'Loud', description: 'In capitals.' }) }),
  setup(context) {${bodyOf(id, setup)}},
})
`

const plainCodeOf = (id: string, version: string, setup: string): string => `
const version = '${version}'
export default {
  settings: { safeParse: (data) => ({ success: true, data: { loud: false, ...data } }) },
  setup(context) {${bodyOf(id, setup)}},
}
`

const bodyOf = (id: string, setup: string): string => `
    ${setup}
    context.route({
      method: 'get', path: '/api/${id}', access: 'public', summary: 'Shout', returns: 'text',
      handle: () => (context.settings.loud ? version.toUpperCase() + '!' : version),
    })
  `

export interface PluginEnded {
  readonly code: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  readonly result: any
  /** What it said beside its result. */
  readonly aside: string
}

type RunPlugin = (
  cwd: string,
  env: Readonly<Record<string, string>>,
  ...args: string[]
) => Promise<PluginEnded>

const pluginCommands =
  (run: Run): RunPlugin =>
  async (cwd, env, ...args) => {
    const { code, out, err } = await run(cwd, env, 'plugin', ...args, '--json')
    if (out === '') throw new Error(err)
    return { code, result: JSON.parse(out), aside: err }
  }

/** Runs `switchyard plugin …` in a folder and in this process, one at a time. */
export const runPlugin = pluginCommands(runHere)

/** The same in a process of its own. */
export const runPluginApart = pluginCommands(runApart)

/** Starts one that is to be killed: it and what it started are a group of processes. */
export function spawnPlugin(cwd: string, env: Record<string, string>, ...args: string[]) {
  const options = { cwd, env: environment(env), detached: true, stdio: 'ignore' as const }
  const child = spawn(process.execPath, [main, 'plugin', ...args, '--json'], options)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const kill = (): void => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }
  return { ended, kill }
}

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
