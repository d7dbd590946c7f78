import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { main } from './built.ts'
import { adminKey } from './harness.ts'
import { headerCode, type PluginFiles, writePlugin } from './plugin-folder.ts'
import { type GatewayProcess, inherited, startProcess } from './process.ts'

/** One gateway for all, which finds the plugins of every test when it starts. */
let folder: string
let gateway: GatewayProcess

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-drop-in-'))
  await put('typed', typed('one'))
  await put('remote', remote('one'))
  const at = await put('wordy', wordy)
  await install(at, 'words', '1.0.0', `export const word = 'first'`)
  for (const { id } of broken) await put(id, { files: { 'index.js': headerCode(`x-${id}`, '1') } })
  await putPackage()
  const yaml = `plugin_dirs: [mine]
auth: { admin_rpm: 100000 }
plugins: ["@acme/switchyard-pii"]
modules: { pii: { config: { refuse: false } } }
`
  await writeFile(path.join(folder, 'service.yaml'), yaml)
  gateway = await startProcess({ SERVICE_ADMIN_KEY: adminKey }, folder)
})

afterAll(async () => {
  await gateway.end('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

const put = (id: string, plugin: PluginFiles): Promise<string> =>
  writePlugin(path.join(folder, 'mine'), id, plugin)

async function api(method: string, at: string, body?: unknown) {
  const response = await fetch(gateway.url + at, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

async function heard(header: string): Promise<string | null> {
  const { status, headers, body } = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}` },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
  })
  await body?.cancel()
  expect(status).toBe(200)
  return headers.get(header)
}

/** A package in a `node_modules` folder. */
async function install(at: string, name: string, version: string, code: string): Promise<void> {
  const folder = path.join(at, 'node_modules', name)
  await mkdir(folder, { recursive: true })
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ name, version, type: 'module' }))
  await writeFile(path.join(folder, 'index.js'), code)
}

/** In TypeScript, of several files, with the contract and zod by their package names; says its word in a header. */
const typed = (word: string, header = 'x-typed'): PluginFiles => ({
  files: {
    'index.ts': `
import { defineModule, GatewayError, forbidden, type Call } from 'switchyard'
import { findAll } from 'switchyard/kit'
import { z } from 'zod'
import { word, type Word } from './src/word.ts'

const settings = z.strictObject({ refuse: z.boolean().default(false) })

export default defineModule({
  settings,
  setup({ settings }) {
    const said: Word = word
    return {
      request(call: Call): undefined {
        if (settings.refuse) throw forbidden('Not with me.')
        call.trace.header('${header}', [said, typeof GatewayError, typeof findAll].join(' '))
      },
    }
  },
})
`,
    'src/word.ts': `export type Word = string\nexport const word: Word = '${word}'\n`,
  },
})

const remote = (word: string): PluginFiles => ({
  ...typed(word, 'x-remote'),
  manifest: { isolation: 'worker' },
})

const wordy: PluginFiles = {
  files: {
    'index.js': `import { word } from 'words'\n${headerCode('x-word', '').replace('""', 'word')}`,
  },
}

/** Code that cannot take over from what runs, each for the plugin of this id, and what is said of it. */
const broken = [
  { id: 'torn', what: 'cannot be parsed', code: 'export default {', reason: 'Unexpected' },
  {
    id: 'lacking',
    what: 'needs a package that is not installed',
    code: `import 'nowhere-to-be-found'`,
    reason: 'nowhere-to-be-found',
  },
  {
    id: 'straying',
    what: 'imports what is outside its folder',
    code: `import '../../../outside.js'`,
    reason: 'outside its folder',
  },
  {
    id: 'prying',
    what: 'imports what the kernel keeps to itself',
    code: `import '#nothing'`,
    reason: '#nothing',
  },
]

/** A package beside the configuration, with a package of its own. */
async function putPackage(): Promise<void> {
  const about = {
    name: '@acme/switchyard-pii',
    version: '2.3.4',
    description: 'Finds names.',
    type: 'module',
    exports: { '.': { types: './index.d.ts', import: './lib/main.ts' } },
    peerDependencies: { switchyard: '*', zod: '*' },
    switchyard: {
      id: 'pii',
      kind: 'module',
      title: 'Names',
      stage: 'inspect',
      failure: 'open',
      enabled: true,
    },
  }
  const code = typed('packed', 'x-packed').files['index.ts']!.replace("'./src/word.ts'", "'./word.ts'")
  await install(folder, 'words', '1.0.0', `export const word = 'hoisted'`)
  const at = path.join(folder, 'node_modules', about.name)
  await mkdir(path.join(at, 'lib'), { recursive: true })
  await writeFile(path.join(at, 'package.json'), JSON.stringify(about))
  await writeFile(path.join(at, 'lib', 'main.ts'), code)
  await writeFile(
    path.join(at, 'lib', 'word.ts'),
    `export type Word = string\nexport { word } from 'words'\n`,
  )
}

test('a plugin in TypeScript, without packages of its own, has the contract and zod from the gateway', async () => {
  expect((await api('GET', '/api/plugins/typed')).body).toMatchObject({ state: 'active', problem: null })
  expect(await heard('x-typed')).toBe('one function function')
  await put('typed', typed('two'))
  expect((await api('POST', '/api/plugins/typed/reload')).body).toMatchObject({ reloaded: true })
  expect(await heard('x-typed')).toBe('two function function')
  const refused = await api('PUT', '/api/plugins/typed', { config: { refuse: 'maybe' } })
  expect(refused).toMatchObject({ status: 400, body: { error: { param: 'config.refuse' } } })
  await api('PUT', '/api/plugins/typed', { config: { refuse: true } })
  const call = { model: 'any', messages: [{ role: 'user', content: 'hi' }] }
  expect(await api('POST', '/v1/chat/completions', call)).toMatchObject({
    status: 403,
    body: { error: { module: 'typed' } },
  })
  await api('PUT', '/api/plugins/typed', { config: { refuse: false } })
})

test('doctor loads it as a start would, and leaves nothing behind', async () => {
  const unloadable = await put('unloadable', { files: { 'index.ts': `import 'nowhere-to-be-found'` } })
  const before = (await readdir(tmpdir())).filter((name) => name.startsWith('switchyard-doctor-'))
  const { stdout } = await promisify(execFile)(process.execPath, [main, 'doctor', '--json'], {
    cwd: folder,
    env: { ...inherited, SERVICE_PORT: new URL(gateway.url).port },
  }).catch((error: { stdout: string }) => error)
  const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; message: string }[] }
  const plugins = checks.filter(({ name }) => name === 'plugins')
  expect(plugins).toMatchObject([
    { status: 'ok' },
    { status: 'failed', message: expect.stringMatching(/^unloadable: .*nowhere-to-be-found/) },
  ])
  const after = (await readdir(tmpdir())).filter((name) => name.startsWith('switchyard-doctor-'))
  expect(after.filter((name) => !before.includes(name))).toEqual([])
  await rm(unloadable, { recursive: true })
})

test('a plugin in a worker has all of that as well, and takes what changed', async () => {
  expect((await api('GET', '/api/plugins/remote')).body).toMatchObject({ state: 'active', problem: null })
  expect(await heard('x-remote')).toBe('one function function')
  await put('remote', remote('two'))
  expect((await api('POST', '/api/plugins/remote/reload')).body).toMatchObject({ reloaded: true })
  expect(await heard('x-remote')).toBe('two function function')
})

test('packages of its own are found, and taken afresh when others are installed', async () => {
  expect(await heard('x-word')).toBe('first')
  const at = path.join(folder, 'mine', 'wordy')
  await rm(path.join(at, 'node_modules'), { recursive: true })
  await install(at, 'words', '1.1.0', `export const word = 'second'`)
  expect((await api('POST', '/api/plugins/rescan')).body).toMatchObject({ changed: ['wordy'] })
  expect(await heard('x-word')).toBe('second')
})

test.each(broken)('code that $what leaves the old running and says why', async ({ id, code, reason }) => {
  // Both are there, so that it is not for want of a file that the import is refused.
  for (const at of [folder, path.join(folder, 'data')]) await writeFile(path.join(at, 'outside.js'), '')
  await put(id, { files: { 'index.js': code } })
  const refused = await api('POST', `/api/plugins/${id}/reload`)
  expect(refused).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining(reason) } },
  })
  expect(await heard(`x-${id}`)).toBe('1')
})

test('a package that service.yaml names runs from the node_modules beside it, with packages of its own', async () => {
  expect((await api('GET', '/api/plugins/pii')).body).toMatchObject({
    source: 'package',
    state: 'active',
    version: '2.3.4',
    description: 'Finds names.',
  })
  expect(await heard('x-packed')).toBe('hoisted function function')
})
