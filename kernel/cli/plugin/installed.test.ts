import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { adminKey } from '../../../test/harness.ts'
import { type GatewayProcess, startProcess } from '../../../test/process.ts'

/** Each command is a process, and some have others: npm, the conformance kit, a gateway. */
vi.setConfig({ testTimeout: 240_000 })

const main = path.resolve('kernel/main.ts')

let folder: string
let env: Record<string, string>
let gateway: GatewayProcess | undefined

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-install-'))
  env = { SERVICE_ADMIN_KEY: adminKey, SERVICE_PORT: String(await freePort()), SERVICE_LOG_LEVEL: 'silent' }
})

afterEach(async () => {
  await gateway?.end('SIGKILL')
  gateway = undefined
  await rm(folder, { recursive: true, force: true })
})

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

interface PackageOptions {
  readonly permissions?: readonly string[]
  readonly setup?: string
  readonly api?: string
}

/** A package whose plugin answers `GET /api/shout` with its version, and whose scripts would leave a trace. */
async function packageOf(version: string, options: PackageOptions = {}): Promise<string> {
  const at = path.join(folder, `shout-${version}`)
  await mkdir(at, { recursive: true })
  const trace = `node -e "require('fs').writeFileSync('${path.join(folder, 'ran')}', '')"`
  const about = {
    name: '@acme/switchyard-shout',
    version,
    description: 'Says its version.',
    type: 'module',
    exports: './index.ts',
    peerDependencies: { switchyard: '*', zod: '*' },
    scripts: { prepack: trace, prepare: trace, install: trace, postinstall: trace },
    switchyard: {
      id: 'shout',
      kind: 'area',
      title: 'Shout',
      api: options.api ?? '^1.0.0',
      permissions: options.permissions ?? ['routes'],
    },
  }
  await writeFile(path.join(at, 'package.json'), JSON.stringify(about))
  await writeFile(
    path.join(at, 'index.ts'),
    `import { defineArea } from 'switchyard'
import { z } from 'zod'
const version: string = '${version}'
export default defineArea({
  settings: z.strictObject({}),
  setup(context) {
    ${options.setup ?? ''}
    context.route({
      method: 'get', path: '/api/shout', access: 'public', summary: 'Shout', returns: 'text', handle: () => version,
    })
  },
})
`,
  )
  return at
}

interface Ended {
  readonly code: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  readonly result: any
}

function plugin(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } }
    execFile(process.execPath, [main, 'plugin', ...args, '--json'], options, (error, out, err) => {
      if (out === '') throw new Error(err)
      resolve({ code: error ? Number(error.code) : 0, result: JSON.parse(out) })
    })
  })
}

async function start(): Promise<void> {
  gateway = await startProcess(env, folder)
}

async function shout(): Promise<string | number> {
  const response = await fetch(`${gateway!.url}/api/shout`)
  return response.ok ? response.text() : response.status
}

test('a package is added, updated, rolled back and removed while the gateway runs, and none of its scripts', async () => {
  await start()
  const added = await plugin('add', await packageOf('1.0.0'), '--yes')
  expect(added).toMatchObject({
    code: 0,
    result: {
      name: 'shout',
      status: 'added',
      installed: { current: { version: '1.0.0', integrity: expect.stringMatching(/^sha512-/) } },
    },
  })
  expect(await shout()).toBe('1.0.0')
  expect((await plugin('add', await packageOf('1.0.0'), '--yes')).result.status).toBe('unchanged')
  expect((await plugin('update', 'shout', await packageOf('1.1.0'), '--no-check')).code).toBe(0)
  expect(await shout()).toBe('1.1.0')
  expect((await plugin('rollback', 'shout')).result).toMatchObject({
    installed: { current: { version: '1.0.0' }, previous: { version: '1.1.0' } },
  })
  expect(await shout()).toBe('1.0.0')
  expect((await plugin('list')).result).toMatchObject({ total: 1, plugins: [{ name: 'shout' }] })
  expect((await plugin('info', 'shout')).result).toMatchObject({ intact: true })
  expect((await plugin('remove', 'shout')).result).toEqual({ name: 'shout', status: 'removed' })
  expect(await shout()).toBe(404)
  expect((await plugin('list')).result.total).toBe(0)
  expect(await readdir(path.join(folder, 'data', 'packages'))).toEqual(['installed.json'])
  expect(existsSync(path.join(folder, 'ran'))).toBe(false)
})

test('what is added while no gateway runs is on when one starts', async () => {
  expect((await plugin('add', await packageOf('1.0.0'), '--yes', '--no-check')).code).toBe(0)
  await start()
  expect(await shout()).toBe('1.0.0')
})

test('permissions are asked for, and at an update only the new ones', async () => {
  await start()
  const asked = await plugin('add', await packageOf('1.0.0'), '--no-check')
  expect(asked).toMatchObject({ code: 1, result: { error: expect.stringContaining('routes') } })
  await plugin('add', await packageOf('1.0.0'), '--no-check', '--yes')
  const more = await packageOf('2.0.0', { permissions: ['routes', 'store'] })
  const refused = await plugin('update', 'shout', more, '--no-check')
  expect(refused).toMatchObject({ code: 1, result: { error: expect.stringMatching(/asks for store:/) } })
  expect(await shout()).toBe('1.0.0')
  expect((await plugin('update', 'shout', more, '--no-check', '--yes')).code).toBe(0)
  expect(await shout()).toBe('2.0.0')
})

test('a version that cannot run is refused; the one before runs on, now and after a restart', async () => {
  await start()
  await plugin('add', await packageOf('1.0.0'), '--no-check', '--yes')
  const broken = await packageOf('1.1.0', { setup: `throw new Error('not on this machine')` })
  expect(await plugin('update', 'shout', broken, '--no-check')).toMatchObject({
    code: 1,
    result: { error: expect.stringContaining('not on this machine') },
  })
  expect(await plugin('update', 'shout', broken)).toMatchObject({
    code: 1,
    result: { error: expect.stringContaining('does not keep to the contract') },
  })
  const future = await packageOf('9.0.0', { api: '^9.0.0' })
  expect(await plugin('update', 'shout', future, '--no-check')).toMatchObject({
    code: 1,
    result: { error: expect.stringContaining('^9.0.0') },
  })
  expect(await shout()).toBe('1.0.0')
  expect((await plugin('rollback', 'shout')).result.error).toContain('no version before')
  await gateway!.end('SIGTERM')
  await start()
  expect(await shout()).toBe('1.0.0')
})

test('files that are not those that were installed do not run, and that is told', async () => {
  await plugin('add', await packageOf('1.0.0'), '--no-check', '--yes')
  const { installed } = (await plugin('add', await packageOf('1.0.0'), '--yes')).result
  const entry = path.join(folder, 'data', 'packages', installed.current.folder, 'index.ts')
  await writeFile(entry, `${await readFile(entry, 'utf8')}\n// and a little more`)
  expect((await plugin('info', 'shout')).result.intact).toBe(false)
  await start()
  const response = await fetch(`${gateway!.url}/api/plugins/shout`, {
    headers: { authorization: `Bearer ${adminKey}` },
  })
  expect(await response.json()).toMatchObject({
    state: 'invalid',
    problem: expect.stringContaining('not those that were installed'),
  })
  await plugin('add', await packageOf('1.0.0'), '--no-check', '--yes')
  expect(await shout()).toBe('1.0.0')
})

test('what npm does not know is refused in one line', async () => {
  expect(await plugin('add', './nowhere', '--yes')).toMatchObject({
    code: 1,
    result: { error: expect.stringContaining('npm') },
  })
})

test('a running gateway is not changed without an admin key', async () => {
  await start()
  const { SERVICE_ADMIN_KEY: _, ...without } = env
  env = without
  expect(await plugin('add', await packageOf('1.0.0'), '--yes')).toMatchObject({
    code: 1,
    result: { error: expect.stringContaining('--key') },
  })
  expect(await plugin('remove', 'shout', '--key', adminKey)).toMatchObject({
    code: 1,
    result: { error: expect.stringContaining('not installed') },
  })
})
