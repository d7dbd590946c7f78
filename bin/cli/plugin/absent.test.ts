import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { storedSetting } from '../../../config/setting.ts'
import { openLevel } from '../../../storage/level.ts'
import { startGateway } from '../../../test/harness.ts'
import { runPlugin, shoutPackage } from '../../../test/shout.ts'

/** Commands about what is not there. */
vi.setConfig({ testTimeout: 120_000 })

let folder: string
let dataDir: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-absent-'))
  dataDir = path.join(folder, 'data')
})

afterEach(() => rm(folder, { recursive: true, force: true }))

const plugin = (...args: string[]) => runPlugin(folder, { SERVICE_PORT: '0' }, ...args)

describe('where no gateway has any data', () => {
  test.each([
    ['update', 'shout'],
    ['rollback', 'shout'],
    ['remove', 'shout'],
    ['erase', 'shout', '--yes'],
  ])('%s says so and makes none', async (...args) => {
    expect(await plugin(...args)).toMatchObject({
      code: 1,
      result: { error: expect.stringContaining(`the folder ${dataDir} does not exist`) },
    })
    expect(existsSync(dataDir)).toBe(false)
  })

  test('there is nothing to list, and looking makes none', async () => {
    expect(await plugin('list')).toMatchObject({ code: 0, result: { plugins: [], total: 0 } })
    expect((await plugin('info', 'shout')).code).toBe(1)
    expect(existsSync(dataDir)).toBe(false)
  })

  test('a package can be added, and where its data goes is told', async () => {
    const { code, aside } = await plugin('add', await shoutPackage(folder, '1.0.0'), '--yes', '--no-check')
    expect([code, aside]).toEqual([0, expect.stringContaining(dataDir)])
    expect((await plugin('list')).result.total).toBe(1)
  })
})

describe('to erase a name', () => {
  const nothing = {
    code: 1,
    result: { error: expect.stringContaining('a plugin called shuot has left nothing') },
  }

  test('of which there is nothing is refused, whether the gateway runs or not', async () => {
    await mkdir(dataDir)
    expect(await plugin('erase', 'shuot', '--yes')).toMatchObject(nothing)
    const gateway = await startGateway({ dataDir })
    try {
      const at = ['--url', gateway.url, '--key', gateway.adminKey]
      expect(await plugin('erase', 'shuot', '--yes', ...at)).toMatchObject(nothing)
    } finally {
      await gateway.close()
    }
  })

  test('of which there are settings alone forgets them', async () => {
    const engine = await openLevel(path.join(dataDir, 'db'))
    const settings = engine.namespace('kernel').collection('settings', { schema: storedSetting })
    await settings.put('shuot', { enabled: false, updated_at: new Date().toISOString() })
    await engine.close()
    expect(await plugin('erase', 'shuot', '--yes')).toMatchObject({ code: 0, result: { status: 'erased' } })
    expect(await plugin('erase', 'shuot', '--yes')).toMatchObject(nothing)
  })
})
