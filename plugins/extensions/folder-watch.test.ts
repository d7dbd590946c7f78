import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { headerCode, moduleCode, writePlugin } from '../../test/plugin-folder.ts'
import { watchFolders } from './folder-watch.ts'

let folder: string
let gateway: TestGateway

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-watched-'))
  await mkdir(path.join(folder, 'plugins'))
  gateway = await startGateway({
    config: { plugin_dirs: [path.join(folder, 'plugins')], plugins: { watch: true } },
  })
})

afterEach(async () => {
  await gateway.close()
  await rm(folder, { recursive: true, force: true })
})

const at = () => path.join(folder, 'plugins')
const version = (n: number) => ({ files: { 'index.js': headerCode('x-v', String(n)) } })
const stateOf = (id: string): string | undefined => {
  const plugin = gateway.kernel.registry.plugins.find((plugin) => plugin.id === id)
  return plugin && `${plugin.manifest?.version} ${gateway.kernel.registry.stateOf(plugin)}`
}
const waitFor = (id: string, state: string | undefined) =>
  vi.waitFor(() => expect(stateOf(id)).toBe(state), { timeout: 15_000, interval: 20 })

test('a folder that appears, changes and goes is taken in by itself', async () => {
  await writePlugin(at(), 'seen', version(1))
  await waitFor('seen', '1.0.0 active')
  await writePlugin(at(), 'seen', { ...version(2), manifest: { version: '1.1.0' } })
  await waitFor('seen', '1.1.0 active')
  await rm(path.join(at(), 'seen'), { recursive: true })
  await waitFor('seen', undefined)
})

test('a folder that is still being copied is not loaded', async () => {
  const outcomes = () => gateway.logged.filter((line) => line.includes('plugins were loaded'))
  const code = `import './part-9.js'\n${moduleCode('return {}')}`
  const slow = await writePlugin(at(), 'slow', { files: { 'index.js': code } })
  for (let n = 0; n < 10; n += 1) {
    await writeFile(path.join(slow, `part-${n}.js`), '')
    expect(outcomes()).toEqual([])
    await sleep(200)
  }
  await waitFor('slow', '1.0.0 active')
  expect(outcomes()).toHaveLength(1)
  expect(JSON.parse(outcomes()[0]!)).toMatchObject({ added: ['slow'], failed: [] })
})

test('a folder that is moved into place, whole and older, is taken at once', async () => {
  const settled: string[] = []
  const settleMs = 4_000
  const stop = watchFolders([at()], {
    settleMs,
    onSettled: async (names) => void settled.push(...names),
    onError: (problem) => settled.push(problem),
  })
  const aside = await writePlugin(folder, 'moved', version(1))
  await sleep(settleMs + 100)
  await rename(aside, path.join(at(), 'moved'))
  await vi.waitFor(() => expect(settled).toContain('moved'), { timeout: settleMs - 500 })
  stop()
})
