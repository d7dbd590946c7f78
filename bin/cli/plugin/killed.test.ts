import { type FSWatcher, watch } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { storedSetting } from '../../../config/setting.ts'
import type { Collection, Engine } from '../../../storage/index.ts'
import { openLevel } from '../../../storage/level.ts'
import { startGateway } from '../../../test/harness.ts'
import { moduleCode, writePlugin } from '../../../test/plugin-folder.ts'
import { runPlugin, runPluginApart, shoutPackage, spawnPlugin } from '../../../test/shout.ts'
import { readInstalled, writeRecord } from '../packages/record.ts'

/** Each command that is killed is a process, and npm another. */
vi.setConfig({ testTimeout: 240_000 })

/** No gateway runs: the commands change its store. */
const env = { SERVICE_PORT: '0' }

let folder: string
let packages: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-killed-'))
  packages = path.join(folder, 'data', 'packages')
  await mkdir(packages, { recursive: true })
})

afterEach(() => rm(folder, { recursive: true, force: true }))

const plugin = (...args: string[]) => runPlugin(folder, env, ...args)

/** Plain code, that a gateway inside a test can import. */
const packageOf = (version: string): Promise<string> =>
  shoutPackage(folder, version, { code: moduleCode('return {}') })

/** When a command is killed: so long after it began, or when something happens in the folder of packages. */
type Moment = number | ((file: string) => boolean)

async function killAt(moment: Moment, ...args: string[]): Promise<void> {
  const { kill, ended } = spawnPlugin(folder, env, ...args)
  let watcher: FSWatcher | undefined
  if (typeof moment === 'number') setTimeout(kill, moment).unref()
  else watcher = watch(packages, { recursive: true }, (_, file) => file !== null && moment(file) && kill())
  await ended
  watcher?.close()
  await expect.poll(workers, { timeout: 60_000 }).toEqual([])
}

/** Processes that work in the folder of packages: npm outlives the command that started it, and may write there for a while. */
async function workers(): Promise<string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const places = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')))
  return places.filter((place) => place.startsWith(packages))
}

const moments = {
  'as it begins to fetch': (file: string) => file.startsWith('.adding-'),
  'while npm unpacks': (file: string) => /^\.adding-.*project.node_modules/.test(file),
  'as the version is moved to its place': (file: string) => /^shout.+/.test(file),
  'as the record is written': (file: string) => file === 'installed.json.tmp',
  'as the record is replaced': (file: string) => file === 'installed.json',
  'at any time': 200 + Math.random() * 800,
} satisfies Record<string, Moment>

/** The version that a start finds: what is there and runs is what the record says, whole, and there is nothing else. */
async function versionFound(): Promise<string | undefined> {
  const dataDir = path.join(folder, 'data')
  const gateway = await startGateway({ dataDir })
  try {
    const { shout, ...others } = await readInstalled(dataDir)
    expect(others).toEqual({})
    const { body } = await gateway.api('GET', '/api/plugins?source=package')
    const wanted = shout ? [{ name: 'shout', version: shout.current.version, state: 'active' }] : []
    expect(body.plugins).toMatchObject(wanted)
    expect(body.total).toBe(wanted.length)
    const roots = [shout?.current, shout?.previous].flatMap((version) => version?.root ?? [])
    const there = await readdir(packages)
    expect(there.filter((name) => !['.lock', 'installed.json'].includes(name))).toEqual(
      shout ? ['shout'] : [],
    )
    const versions = shout ? await readdir(path.join(packages, 'shout')) : []
    expect(versions.map((name) => path.join('shout', name)).sort()).toEqual(roots.sort())
    return shout?.current.version
  } finally {
    await gateway.close()
  }
}

test('an add that is killed, whenever, is done or is not, and the next one is', async () => {
  const at = await packageOf('1.0.0')
  for (const [when, moment] of Object.entries(moments)) {
    await killAt(moment, 'add', at, '--yes', '--no-check')
    expect([undefined, '1.0.0'], when).toContain(await versionFound())
    await writeRecord(path.join(folder, 'data'), { plugins: {}, leaving: {} })
  }
  expect((await plugin('add', at, '--yes', '--no-check')).code).toBe(0)
  expect(await versionFound()).toBe('1.0.0')
})

test('an update, a rollback and a remove that are killed are done or are not', async () => {
  const second = await packageOf('2.0.0')
  expect((await plugin('add', await packageOf('1.0.0'), '--yes', '--no-check')).code).toBe(0)
  const record = { tmp: moments['as the record is written'], done: moments['as the record is replaced'] }
  for (const moment of [moments['as the version is moved to its place'], record.tmp, record.done]) {
    await killAt(moment, 'update', 'shout', second, '--no-check')
    expect(['1.0.0', '2.0.0']).toContain(await versionFound())
  }
  expect((await plugin('update', 'shout', second, '--no-check')).code).toBe(0)
  await killAt(record.done, 'rollback', 'shout')
  expect(['1.0.0', '2.0.0']).toContain(await versionFound())
  await killAt(record.tmp, 'remove', 'shout')
  expect([undefined, '1.0.0', '2.0.0']).toContain(await versionFound())
})

describe('a remove that is killed as it forgets settings', () => {
  /** So many that it takes a while to forget them. */
  const bindings = Array.from({ length: 5000 }, (_, number) => `shout/${number}`)
  const dataDir = () => path.join(folder, 'data')
  const settingsOf = (engine: Engine) =>
    engine.namespace('kernel').collection('settings', { schema: storedSetting })

  /** A data folder with the plugin and its settings, of which each test has a copy. */
  let made: string

  beforeAll(async () => {
    made = await mkdtemp(path.join(tmpdir(), 'switchyard-killed-'))
    const at = await shoutPackage(made, '1.0.0', { code: moduleCode('return {}') })
    expect((await runPlugin(made, env, 'add', at, '--yes', '--no-check')).code).toBe(0)
    const engine = await openLevel(path.join(made, 'data', 'db'))
    const updated_at = new Date().toISOString()
    await Promise.all(bindings.map((id) => settingsOf(engine).put(id, { enabled: true, updated_at })))
    await engine.close()
  })

  afterAll(() => rm(made, { recursive: true }))

  beforeEach(() => cp(path.join(made, 'data'), dataDir(), { recursive: true }))

  const settingsLeft = async (): Promise<number> => {
    const engine = await openLevel(path.join(dataDir(), 'db'))
    try {
      return await settingsOf(engine).count()
    } finally {
      await engine.close()
    }
  }

  test('is ended by the same command', async () => {
    await killAt(moments['as the record is replaced'], 'remove', 'shout')
    expect(await settingsLeft()).toBeGreaterThan(0)
    const { code, result } = await plugin('remove', 'shout')
    expect([code, result]).toEqual([0, expect.objectContaining({ status: 'removed', settings: 'forgotten' })])
    expect(await settingsLeft()).toBe(0)
    expect((await plugin('remove', 'shout')).code).toBe(1)
  })

  test('is ended by a start', async () => {
    await killAt(moments['as the record is replaced'], 'remove', 'shout')
    expect(await settingsLeft()).toBeGreaterThan(0)
    expect(await versionFound()).toBe(undefined)
    expect(await settingsLeft()).toBe(0)
  })

  test('keeps them where they are to be kept', async () => {
    const before = await settingsLeft()
    await killAt(moments['as the record is replaced'], 'remove', 'shout', '--keep-settings')
    expect(await versionFound()).toBe(undefined)
    expect(await settingsLeft()).toBe(before)
  })

  test('erases what is to be erased when it is ended', async () => {
    const stored = async (change?: (rows: Collection<{ n: number }>) => Promise<void>) => {
      const engine = await openLevel(path.join(dataDir(), 'db'))
      const part = engine.namespace('plugins').namespace('shout')
      try {
        await change?.(part.collection('rows', { schema: z.object({ n: z.number() }) }))
        return await engine.contents('plugins/shout/')
      } finally {
        await engine.close()
      }
    }
    const before = await stored((rows) => rows.put('1', { n: 1 }))
    expect(before.length).toBe(1)
    await killAt(moments['as the record is written'], 'remove', 'shout', '--erase', '--yes')
    await killAt(moments['as the record is replaced'], 'remove', 'shout', '--erase', '--yes')
    expect(await versionFound()).toBe(undefined)
    expect([await settingsLeft(), await stored()]).toEqual([0, []])
  })

  test('leaves them to a plugin of the name that has come from elsewhere', async () => {
    await killAt(moments['as the record is replaced'], 'remove', 'shout')
    const left = await settingsLeft()
    const plugins = path.join(folder, 'plugins')
    await writePlugin(plugins, 'shout', { files: { 'index.js': moduleCode('return {}') } })
    const gateway = await startGateway({ dataDir: dataDir(), config: { plugin_dirs: [plugins] } })
    await gateway.close()
    expect(await settingsLeft()).toBe(left)
    await rm(plugins, { recursive: true })
    expect(await versionFound()).toBe(undefined)
    expect(await settingsLeft()).toBe(left)
  })
})

test('a gateway that was not told that a plugin is gone is told by the next command', async () => {
  const at = await packageOf('1.0.0')
  const gateway = await startGateway({ dataDir: path.join(folder, 'data') })
  const told = ['--url', gateway.url, '--key', gateway.adminKey]
  try {
    expect((await plugin('add', at, '--yes', '--no-check', ...told)).code).toBe(0)
    expect((await gateway.api('PUT', '/api/plugins/shout', { enabled: false })).status).toBe(200)
    await killAt(moments['as the record is replaced'], 'remove', 'shout', ...told)
    expect((await plugin('remove', 'shout', ...told)).code).toBe(0)
    expect((await gateway.api('GET', '/api/plugins/shout')).status).toBe(404)
    expect((await gateway.api('DELETE', '/api/plugins/shout/settings')).status).toBe(404)
  } finally {
    await gateway.close()
  }
})

test('commands that run at the same time all have their way, one after the other', async () => {
  const ids = ['shout', 'yell']
  const folders = await Promise.all(ids.map((id) => shoutPackage(folder, '1.0.0', { id })))
  const ended = await Promise.all(
    folders.map((at) => runPluginApart(folder, env, 'add', at, '--yes', '--no-check')),
  )
  expect(ended.map(({ code }) => code)).toEqual([0, 0])
  expect(ended.filter(({ aside }) => aside.includes('waiting for it to end')).length).toBeGreaterThan(0)
  expect((await plugin('list')).result.total).toBe(2)
})
