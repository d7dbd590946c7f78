import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { adminKey, startGateway } from '../../../test/harness.ts'
import { moduleCode } from '../../../test/plugin-folder.ts'
import { startProcess } from '../../../test/process.ts'
import {
  freePort,
  type PluginEnded,
  runPlugin,
  runPluginApart,
  type ShoutOptions,
  shoutPackage,
} from '../../../test/shout.ts'
import type { InstalledPackage } from '../packages/record.ts'

/** Commands have processes of others: npm, the conformance kit, a gateway. */
vi.setConfig({ testTimeout: 240_000 })

let folder: string
let env: Record<string, string>
let gateway: { readonly url: string; end(): Promise<unknown> } | undefined

/** A folder where the plugin's first version was added, and its record. */
let made: string
let record: InstalledPackage

beforeAll(async () => {
  made = await mkdtemp(path.join(tmpdir(), 'switchyard-install-'))
  const at = await shoutPackage(made, '1.0.0', { plain: true })
  const { code, result } = await runPlugin(made, { SERVICE_PORT: '0' }, 'add', at, '--no-check', '--yes')
  expect(code).toBe(0)
  record = result.installed
})

afterAll(() => rm(made, { recursive: true, force: true }))

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-install-'))
  env = { SERVICE_ADMIN_KEY: adminKey, SERVICE_PORT: String(await freePort()), SERVICE_LOG_LEVEL: 'silent' }
})

afterEach(async () => {
  await stop()
  await rm(folder, { recursive: true, force: true })
})

/** One that the gateway in this process can load, unless it is to have the code of people. */
const packageOf = (version: string, options?: ShoutOptions): Promise<string> =>
  shoutPackage(folder, version, { plain: true, ...options })

/** What an add leaves in a folder: the commands of tests that are not about adding find it there. */
const hasAdded = (at = folder): Promise<void> =>
  cp(path.join(made, 'data'), path.join(at, 'data'), { recursive: true })

const plugin = (...args: string[]): Promise<PluginEnded> => runPlugin(folder, env, ...args)
const pluginApart = (...args: string[]): Promise<PluginEnded> => runPluginApart(folder, env, ...args)

/**
 * A gateway in this process, where the configuration of the commands says that it is. Only commands in this process find that its
 * store is open: POSIX takes a lock from a process that looks at it itself.
 */
async function start(): Promise<void> {
  const { url, close } = await startGateway({ dataDir: path.join(folder, 'data'), env })
  gateway = { url, end: close }
}

/** The same in a process of its own, as an operator runs it. */
async function startApart(): Promise<void> {
  const { url, end } = await startProcess(env, folder)
  gateway = { url, end: () => end('SIGTERM') }
}

async function stop(): Promise<void> {
  await gateway?.end()
  gateway = undefined
}

async function shout(): Promise<string | number> {
  const response = await fetch(`${gateway!.url}/api/shout`)
  return response.ok ? response.text() : response.status
}

test('a package is added, updated, rolled back and removed while the gateway runs, and none of its scripts', async () => {
  await startApart()
  const chatty = { plain: false, setup: `console.log('{ "checks": [] }')` }
  const added = await pluginApart('add', await packageOf('1.0.0', chatty), '--yes')
  expect(added).toMatchObject({
    code: 0,
    result: {
      name: 'shout',
      status: 'added',
      installed: { current: { version: '1.0.0', integrity: expect.stringMatching(/^sha512-/) } },
    },
  })
  expect(await shout()).toBe('1.0.0')
  expect((await pluginApart('add', await packageOf('1.0.0', chatty), '--yes')).result.status).toBe(
    'unchanged',
  )
  expect(
    (await pluginApart('update', 'shout', await packageOf('1.1.0', { plain: false }), '--no-check')).code,
  ).toBe(0)
  expect(await shout()).toBe('1.1.0')
  expect((await pluginApart('rollback', 'shout')).result).toMatchObject({
    installed: { current: { version: '1.0.0' }, previous: { version: '1.1.0' } },
  })
  expect(await shout()).toBe('1.0.0')
  expect((await pluginApart('list')).result).toMatchObject({ total: 1, plugins: [{ name: 'shout' }] })
  expect((await pluginApart('info', 'shout')).result).toMatchObject({
    intact: true,
    current: { version: '1.0.0', spec: path.join(folder, 'shout-1.0.0') },
    previous: { version: '1.1.0', spec: path.join(folder, 'shout-1.1.0') },
  })
  expect((await pluginApart('remove', 'shout')).result).toMatchObject({ name: 'shout', status: 'removed' })
  expect(await shout()).toBe(404)
  expect((await pluginApart('list')).result.total).toBe(0)
  expect((await readdir(path.join(folder, 'data', 'packages'))).sort()).toEqual(['.lock', 'installed.json'])
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
  await hasAdded()
  await start()
  const broken = await packageOf('1.1.0', { setup: `throw new Error('not on this machine')` })
  expect(await plugin('update', 'shout', broken, '--no-check')).toMatchObject({
    code: 1,
    result: { error: expect.stringContaining('not on this machine') },
  })
  expect(await plugin('update', 'shout', broken)).toMatchObject({
    code: 1,
    result: { error: expect.stringContaining('fails the conformance kit') },
  })
  const future = await packageOf('9.0.0', { api: '^9.0.0' })
  expect(await plugin('update', 'shout', future, '--no-check')).toMatchObject({
    code: 1,
    result: { error: expect.stringContaining('^9.0.0') },
  })
  expect(await shout()).toBe('1.0.0')
  expect((await plugin('rollback', 'shout')).result.error).toContain('no version before')
  await stop()
  await start()
  expect(await shout()).toBe('1.0.0')
})

describe('what is not what was installed does not run, and that is told', () => {
  const detail = async () => {
    const response = await fetch(`${gateway!.url}/api/plugins/shout`, {
      headers: { authorization: `Bearer ${adminKey}` },
    })
    return response.json()
  }
  const invalid = {
    state: 'invalid',
    problem: expect.stringContaining('have changed since they were installed'),
  }
  const append = async (file: string): Promise<void> =>
    writeFile(file, `${await readFile(file, 'utf8')}\n// and a little more`)

  test('its own files', async () => {
    await hasAdded()
    await append(path.join(folder, 'data', 'packages', record.current.folder, 'index.ts'))
    expect((await plugin('info', 'shout')).result.intact).toBe(false)
    await start()
    expect(await detail()).toMatchObject(invalid)
    expect(await shout()).toBe(404)
    expect((await plugin('update', 'shout', '--no-check')).result.status).toBe('updated')
    expect(await shout()).toBe('1.0.0')
  })

  test('the packages that it depends on, and theirs', async () => {
    const words = path.join(folder, 'words')
    await mkdir(words)
    await writeFile(
      path.join(words, 'package.json'),
      '{ "name": "words", "version": "1.0.0", "type": "module" }',
    )
    await writeFile(path.join(words, 'index.js'), `export const word = 'well'`)
    const at = await packageOf('1.0.0', {
      plain: false,
      dependencies: { words: `file:${words}` },
      setup: `context.log.info(word)`,
    })
    const code = await readFile(path.join(at, 'index.ts'), 'utf8')
    await writeFile(path.join(at, 'index.ts'), `import { word } from 'words'\n${code}`)
    const { result } = await plugin('add', at, '--no-check', '--yes')
    expect(result.status).toBe('added')
    await startApart()
    expect(await shout()).toBe('1.0.0')
    const { root } = result.installed.current
    await append(path.join(folder, 'data', 'packages', root, 'node_modules', 'words', 'index.js'))
    expect((await plugin('info', 'shout')).result.intact).toBe(false)
    await stop()
    await startApart()
    expect(await detail()).toMatchObject(invalid)
    expect(await shout()).toBe(404)
    expect((await plugin('add', at, '--no-check', '--yes')).code).toBe(0)
    expect(await detail()).toMatchObject({ state: 'active', problem: null })
  })

  test('and a guard refuses calls rather than let them pass', async () => {
    const guard = { kind: 'module', stage: 'inspect', failure: 'closed', permissions: [] }
    const code = moduleCode('return { request() {} }')
    const at = await packageOf('1.0.0', { manifest: guard, code })
    const { result } = await plugin('add', at, '--no-check')
    expect(result.status).toBe('added')
    await start()
    const call = () =>
      fetch(`${gateway!.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${adminKey}` },
        body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
      })
    expect((await call()).status).toBe(200)
    await stop()
    await append(path.join(folder, 'data', 'packages', result.installed.current.folder, 'index.ts'))
    await start()
    expect(await detail()).toMatchObject(invalid)
    expect((await call()).status).toBe(500)
  })
})

test('what is removed has its settings forgotten, unless they are to be kept', async () => {
  const at = await packageOf('1.0.0')
  const set = (body: object) =>
    fetch(`${gateway!.url}/api/plugins/shout`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await hasAdded()
  await start()
  await set({ config: { loud: true }, enabled: false })
  expect((await plugin('remove', 'shout', '--keep-settings')).result).toMatchObject({ settings: 'kept' })
  await plugin('add', at, '--no-check', '--yes')
  expect(await shout()).toBe('1.0.0!')
  expect((await plugin('remove', 'shout')).result).toMatchObject({ settings: 'forgotten' })
  await plugin('add', at, '--no-check', '--yes')
  expect(await shout()).toBe('1.0.0')
  await set({ config: { loud: true } })
  await stop()
  expect((await plugin('remove', 'shout')).result).toMatchObject({ settings: 'forgotten' })
  await plugin('add', at, '--no-check', '--yes')
  await start()
  expect(await shout()).toBe('1.0.0')
})

describe('what a plugin stored', () => {
  /** A plugin that counts its calls for good. */
  const code = `const schema = { safeParse: (data) => ({ success: true, data }) }
export default { settings: schema, async setup(ctx) {
  const rows = ctx.store.collection('rows', { schema })
  const counts = await ctx.store.counters('counts')
  const log = ctx.store.log('log', { id: (row) => row.id, time: () => 1 })
  await rows.put('1', { n: 1 })
  counts.add('setups', 1)
  log.append({ id: 'one' })
} }`
  const stored = [
    { kind: 'collection', path: 'shout/rows', entries: 1 },
    { kind: 'log', path: 'shout/log', entries: expect.any(Number) },
    { kind: 'counters', path: 'shout/counts', entries: 1 },
  ]
  const keeping = () =>
    packageOf('1.0.0', {
      code,
      manifest: { kind: 'module', stage: 'limits', failure: 'open', permissions: ['store'] },
    })
  const listed = async () => {
    const response = await fetch(`${gateway!.url}/api/plugins/shout/stored`, {
      headers: { authorization: `Bearer ${adminKey}` },
    })
    return response.json()
  }

  test('is erased with it while the gateway runs, when that is confirmed', async () => {
    await start()
    await plugin('add', await keeping(), '--no-check', '--yes')
    expect(await listed()).toEqual({ stored })
    expect(await plugin('erase', 'shout', '--yes')).toMatchObject({
      code: 1,
      result: { error: expect.stringContaining('remove shout --erase') },
    })
    expect(await plugin('remove', 'shout', '--erase')).toMatchObject({
      code: 1,
      result: { error: expect.stringContaining('--yes') },
    })
    expect((await plugin('erase', 'outputcap', '--yes')).result.error).toContain('is built in')
    expect((await plugin('list')).result.total).toBe(1)
    expect((await plugin('remove', 'shout', '--erase', '--yes')).result).toMatchObject({
      status: 'removed',
      settings: 'forgotten',
      stored: 'erased',
      erased: stored,
    })
    expect(await listed()).toEqual({ stored: [] })
    await plugin('add', await keeping(), '--no-check', '--yes')
    expect(await listed()).toEqual({ stored })
  })

  test('stays without that, and is erased later, whether the gateway runs or not', async () => {
    await start()
    await plugin('add', await keeping(), '--no-check', '--yes')
    expect((await plugin('remove', 'shout')).result).toMatchObject({ stored: 'kept', erased: [] })
    expect(await listed()).toEqual({ stored })
    await stop()
    expect((await plugin('erase', 'shout', '--yes')).result).toMatchObject({
      status: 'erased',
      erased: stored,
    })
    await start()
    expect(await listed()).toEqual({ stored: [] })
    await plugin('add', await keeping(), '--no-check', '--yes')
    await plugin('remove', 'shout')
    expect((await plugin('erase', 'shout', '--yes')).result).toMatchObject({
      status: 'erased',
      erased: stored,
    })
    expect(await listed()).toEqual({ stored: [] })
  })
})

test('a gateway that has another data folder is not taken for the one to tell', async () => {
  await start()
  const elsewhere = path.join(folder, 'elsewhere')
  await mkdir(elsewhere)
  const { code, result } = await runPlugin(
    elsewhere,
    env,
    'add',
    await packageOf('1.0.0'),
    '--no-check',
    '--yes',
  )
  expect([code, result.error]).toEqual([1, expect.stringContaining('another data folder')])
  expect((await runPlugin(elsewhere, env, 'list')).result.total).toBe(0)
})

test('nor is it told of what is removed, on the configured port or at a URL', async () => {
  await start()
  const elsewhere = path.join(folder, 'elsewhere')
  await mkdir(elsewhere)
  const here = (port: object, ...args: string[]) => runPlugin(elsewhere, { ...env, ...port }, ...args)
  const alone = { SERVICE_PORT: '0' }
  await hasAdded(elsewhere)
  const refused = { code: 1, result: { error: expect.stringContaining('another data folder') } }
  expect(await here({}, 'remove', 'shout', '--erase', '--yes')).toMatchObject(refused)
  expect(await here(alone, 'remove', 'shout', '--url', gateway!.url)).toMatchObject(refused)
  expect((await here(alone, 'list')).result.total).toBe(1)
  expect(await here(alone, 'remove', 'shout', '--erase', '--yes')).toMatchObject({ code: 0 })
})

test('a damaged record is told by every command and by a start, and nothing is removed for it', async () => {
  await hasAdded()
  const packages = path.join(folder, 'data', 'packages')
  await writeFile(path.join(packages, 'installed.json'), '{ "format": 1, ')
  for (const args of [['list'], ['info', 'shout'], ['remove', 'shout']])
    expect(await plugin(...args)).toMatchObject({
      code: 1,
      result: { error: expect.stringContaining('damaged') },
    })
  await expect(startApart()).rejects.toThrow(/damaged.*Put it right/)
  expect(existsSync(path.join(packages, record.current.folder, 'index.ts'))).toBe(true)
})

test('of a package that is fetched by git no script runs either', async () => {
  const at = await packageOf('1.0.0')
  const about = JSON.parse(await readFile(path.join(at, 'package.json'), 'utf8'))
  await writeFile(path.join(at, 'package.json'), JSON.stringify({ ...about, peerDependencies: {} }))
  const git = promisify(execFile)
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    [...who, 'commit', '-qm', 'first'],
  ])
    await git('git', args, { cwd: at })
  const { result } = await plugin('add', `git+file://${at}`, '--no-check', '--yes')
  expect(result).toMatchObject({ status: 'added' })
  expect(existsSync(path.join(folder, 'ran'))).toBe(false)
})

test('what npm does not know is refused in one line', async () => {
  expect(await plugin('add', './nowhere', '--yes')).toMatchObject({
    code: 1,
    result: { error: expect.stringContaining('npm') },
  })
  const { result } = await plugin('add', './nofile.tgz', '--yes')
  expect(result.error).toMatch(/^npm pack failed: ENOENT: no such file or directory, .*nofile\.tgz/)
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
    result: { error: expect.stringContaining(`not installed in ${path.join(folder, 'data')}`) },
  })
})
