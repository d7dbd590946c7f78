import { cp, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installOutside, type Outside } from './outside.ts'

const minutes = 60_000

let outside: Outside

beforeAll(async () => {
  outside = await installOutside()
}, 5 * minutes)

afterAll(() => outside.remove())

test('the package has built files with their types, and neither sources nor tests nor benchmarks', () => {
  expect(outside.packed).toEqual(
    expect.arrayContaining(['bin/switchyard.js', 'dist/kernel/index.js', 'dist/kernel/index.d.ts']),
  )
  const surplus = outside.packed.filter((name) =>
    /(?<!\.d)\.ts$|\.test\.(d\.ts|js)$|fixtures|^(bench|test|node_modules)\//.test(name),
  )
  expect(surplus).toEqual([])
})

test('the command line runs from the package', async () => {
  expect(await outside.succeed(['switchyard', 'modules'])).toMatch(/outputcap +off/)
})

describe.each(['module', 'area', 'provider'])('a new %s', (kind) => {
  const name = `fresh-${kind}`

  beforeAll(() => outside.succeed(['switchyard', 'plugin', 'new', name, '--kind', kind]))

  test('passes its own tests', { timeout: minutes }, async () => {
    expect(await outside.succeed(['node', '--test'], name)).toMatch(/pass [1-9]/)
  })

  test('has right types', { timeout: minutes }, async () => {
    const types = path.resolve('node_modules/@types')
    await outside.succeed([path.resolve('node_modules/.bin/tsc'), '-p', '.', '--typeRoots', types], name)
  })

  test('passes the checks of every plugin', { timeout: minutes }, async () => {
    await outside.succeed(['switchyard', 'plugin', 'check', name])
  })

  test('is not written over', async () => {
    const { code, output } = await outside.run(['switchyard', 'plugin', 'new', name, '--kind', kind])
    expect([code, output]).toEqual([1, expect.stringContaining('is there already')])
  })

  test('is a package as it is', { timeout: minutes }, async () => {
    const files = await outside.succeed(['npm', 'pack', '--dry-run'], name)
    expect(files).toContain('package.json')
    expect(files).not.toContain('.test.ts')
  })
})

describe.each(['turnlimit', 'ticketveil', 'acmemodels'])('the example %s', (name) => {
  beforeAll(() => cp(`examples/${name}`, path.join(outside.folder, name), { recursive: true }))

  test('passes its own tests', { timeout: minutes }, async () => {
    expect(await outside.succeed(['node', '--test'], name)).toMatch(/pass [1-9]/)
  })

  test('passes the checks of every plugin', { timeout: minutes }, async () => {
    await outside.succeed(['switchyard', 'plugin', 'check', name])
  })
})

test('the commands of the tutorial work', { timeout: 2 * minutes }, async () => {
  const text = await readFile('docs/plugins/tutorial.md', 'utf8')
  const [install, ...commands] = /```sh\n([^`]*)```/.exec(text)![1]!.trim().split('\n')
  expect(install).toBe('npm install switchyard zod')
  for (const command of commands) await outside.succeed(['sh', '-c', command])
})

test.each(['Upper', '1st', 'a_b', '../up', 'maskmode', 'x'.repeat(65)])(
  'a plugin cannot be called %s',
  async (name) => {
    const { code, output } = await outside.run(['switchyard', 'plugin', 'new', name])
    expect([code, output]).toEqual([1, expect.stringMatching(/cannot be a plugin's name|already/)])
  },
)

test('what the contract does not allow is an error of types', { timeout: minutes }, async () => {
  await writeFile(
    path.join(outside.folder, 'wrong.ts'),
    `import { defineModule } from 'switchyard'
import { z } from 'zod'
export default defineModule({
  settings: z.strictObject({}),
  setup: () => ({ reply: (body) => body }),
})
`,
  )
  const types = path.resolve('node_modules/@types')
  const flags = '--noEmit --strict --module nodenext --target es2024 --skipLibCheck --types node'.split(' ')
  const tsc = path.resolve('node_modules/.bin/tsc')
  const { code, output } = await outside.run([tsc, ...flags, '--typeRoots', types, 'wrong.ts'])
  expect([code > 0, output]).toEqual([true, expect.stringContaining("'stream' is missing")])
})
