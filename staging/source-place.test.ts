import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PluginFiles, writePlugin } from '../test/plugin-folder.ts'
import { inherited } from '../test/process.ts'

const definition = (setup: string): string =>
  `export default { settings: { safeParse: (data) => ({ success: true, data }) }, ${setup} }\n`

const broken: Record<string, readonly [files: PluginFiles['files'], problem: string | RegExp]> = {
  'JavaScript that cannot be parsed, in another file': [
    { 'index.js': `import './lib/deep.js'\n`, 'lib/deep.js': 'const a = 1\n\n  const b = = 2\n' },
    "Unexpected token '=' (lib/deep.js:3: const b = = 2)",
  ],
  'JavaScript that ends too soon': [
    { 'index.js': 'export default { setup() {' },
    'Unexpected end of input (index.js:1: export default { setup() {)',
  ],
  'TypeScript that cannot be parsed': [
    { 'index.ts': 'const a: number = 1\nexport default { setup(: string) {} }\n' },
    / \(index\.ts:2: export default \{ setup\(: string\) \{\} \}\)$/,
  ],
  'TypeScript that is more than types': [
    { 'index.ts': 'const a = 1\nenum Size { Small }\n' },
    /enum is not supported.* \(index\.ts:2: enum Size \{ Small \}\)$/,
  ],
  'an import of what is not exported': [
    { 'index.js': `import { nothing } from './some.js'\n`, 'some.js': 'export const some = 1\n' },
    /'nothing' \(index\.js:1: import \{ nothing \} from '.\/some\.js'\)$/,
  ],
  'an import of a file that is not there': [
    { 'index.js': `import './missing.js'\n` },
    "Cannot find module 'missing.js' imported from index.js",
  ],
  'an import of a package that is not there': [
    { 'lib/main.js': `import 'nowhere'\n`, 'package.json': '{ "exports": "./lib/main.js" }' },
    'lib/main.js imports nowhere, which is not installed',
  ],
  'code that breaks when it is imported': [
    { 'index.js': '\nundefined.size\n' },
    /reading 'size'\) \(index\.js:2\)$/,
  ],
  'code that breaks in setup': [
    {
      'index.js': `import { setup } from './setup.js'\n${definition('setup')}`,
      'setup.js': `export function setup() {\n  throw new RangeError('far out')\n}\n`,
    },
    'far out (setup.js:2)',
  ],
  'code that throws no error': [{ 'index.js': `throw 'text'\n` }, 'text'],
}

let folder: string
let gateway: { readonly state: string; readonly problem: string }[]

/** The runner of these tests imports code in a way of its own, so a gateway in a process of its own is asked. */
const script = `
import { openGateway } from ${JSON.stringify(path.resolve('gateway/gateway.ts'))}
import { loadConfig } from ${JSON.stringify(path.resolve('config/config.ts'))}
import { createLog } from ${JSON.stringify(path.resolve('gateway/log.ts'))}
const config = loadConfig({ env: process.env, cwd: process.cwd() })
const kernel = await openGateway({ config: { ...config, pluginDirs: [process.cwd() + '/mine'] }, env: {}, log: createLog({ level: 'silent' }) })
const shown = process.argv.slice(1).map((id) => {
  const plugin = kernel.registry.get(id)
  return { state: kernel.registry.stateOf(plugin), problem: plugin.problem }
})
console.log(JSON.stringify(shown))
await kernel.close()
process.exit()`

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-broken-'))
  const ids = Object.keys(broken).map((_, n) => `broken-${n}`)
  for (const [n, [files]] of Object.values(broken).entries())
    await writePlugin(path.join(folder, 'mine'), ids[n]!, { files })
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', script, ...ids],
    {
      cwd: folder,
      env: { ...inherited, SERVICE_PORT: '0' },
    },
  )
  gateway = JSON.parse(stdout)
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test.each(Object.entries(broken).map(([what, [, problem]], n) => [what, problem, n] as const))(
  '%s is told with its place in the folder',
  (_, problem, n) => {
    const shown = gateway[n]!
    expect(shown.state).toBe('failed')
    expect(shown.problem).toEqual(typeof problem === 'string' ? problem : expect.stringMatching(problem))
    expect(shown.problem).not.toContain(folder)
  },
)
