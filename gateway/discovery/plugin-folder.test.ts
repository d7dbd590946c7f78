import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { headerCode } from '../../test/plugin-folder.ts'
import { findPackage } from './plugin-folder.ts'

let folder: string
let gateway: TestGateway | undefined

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-packages-'))
})

afterEach(async () => {
  await gateway?.close()
  gateway = undefined
  await rm(folder, { recursive: true, force: true })
})

const about = {
  version: '2.3.4',
  description: 'Finds names.',
  type: 'module',
  exports: './lib/main.js',
  switchyard: { id: 'pii', kind: 'module', title: 'Names', stage: 'inspect', failure: 'open', enabled: true },
}

async function install(at: string, name: string, more: object = {}): Promise<string> {
  const to = path.join(at, 'node_modules', name)
  await mkdir(path.join(to, 'lib'), { recursive: true })
  await writeFile(path.join(to, 'package.json'), JSON.stringify({ name, ...about, ...more }))
  await writeFile(
    path.join(to, 'lib', 'main.js'),
    `import { word } from 'words'\n${headerCode('x-pii', '').replace('""', 'word')}`,
  )
  return to
}

async function installWords(at: string): Promise<void> {
  const to = path.join(at, 'node_modules', 'words')
  await mkdir(to, { recursive: true })
  await writeFile(path.join(to, 'package.json'), '{ "name": "words", "type": "module", "exports": "./w.js" }')
  await writeFile(path.join(to, 'w.js'), `export const word = 'found'`)
}

const start = async (packages: string[]) => {
  await mkdir(path.join(folder, 'drop'), { recursive: true })
  gateway = await startGateway({ config: { plugins: packages, plugin_dirs: [path.join(folder, 'drop')] } })
  return gateway
}

test('a package is found in the nearest node_modules, by the id in its manifest', async () => {
  await install(folder, '@acme/switchyard-pii')
  const base = path.join(folder, 'deep', 'er')
  await mkdir(base, { recursive: true })
  expect(await findPackage('@acme/switchyard-pii', base)).toEqual({
    id: 'pii',
    folder: path.join(folder, 'node_modules', '@acme/switchyard-pii'),
    source: 'package',
  })
})

test.each(['../../etc', '/etc', '@acme/../x', '.bin', 'a/b', ''])('%j is not a package', async (name) => {
  expect(await findPackage(name, folder)).toMatchObject({ problem: expect.stringContaining('not the name') })
})

test('a package that is not installed is listed with what to do', async () => {
  const { api } = await start(['@acme/absent'])
  const { body } = await api('GET', '/api/plugins?source=package')
  expect(body.plugins).toMatchObject([
    { name: '@acme/absent', state: 'invalid', problem: expect.stringContaining('with npm') },
  ])
})

test('a folder in plugin_dirs may be a package: its manifest in package.json, its packages beside it', async () => {
  await installWords(folder)
  await install(folder, 'pii')
  await mkdir(path.join(folder, 'drop'))
  await symlink(path.join(folder, 'node_modules', 'pii'), path.join(folder, 'drop', 'pii'))
  const { api } = await start([])
  expect((await api('GET', '/api/plugins/pii')).body).toMatchObject({
    version: '2.3.4',
    description: 'Finds names.',
    source: 'local',
  })
})
