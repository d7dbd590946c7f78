import { cp, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runHere } from './commands.ts'
import { adminKey } from './harness.ts'
import { installOutside, type Outside } from './outside.ts'
import type { GatewayProcess } from './process.ts'
import { followPage } from './tutorial.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

const minutes = 60_000

let outside: Outside

beforeAll(async () => {
  outside = await installOutside()
}, 5 * minutes)

afterAll(() => outside.remove())

test('the package has built files with their types, and neither sources nor tests nor benchmarks', () => {
  expect(outside.packed).toEqual(
    expect.arrayContaining([
      'bin/switchyard.js',
      'dist/contract/index.js',
      'dist/contract/index.d.ts',
      'docs/plugins/tutorial.md',
      'examples/turnlimit/index.js',
    ]),
  )
  const built = outside.packed.filter((name) => !/^(docs\/plugins\/)?examples\//.test(name))
  const surplus = built.filter((name) =>
    /(?<!\.d)\.ts$|\.test\.(d\.ts|js)$|fixtures|^(bench|test|node_modules)\//.test(name),
  )
  expect(surplus).toEqual([])
})

test('whoever may read the sources may read what is built of them, such as the user of a service', async () => {
  const [sources, dist] = await Promise.all(['bin', 'dist'].map(async (name) => (await stat(name)).mode))
  expect((dist! & 0o777).toString(8)).toBe((sources! & 0o777).toString(8))
})

test('the command line runs from the package', async () => {
  expect(await outside.succeed(['switchyard', 'modules'])).toMatch(/outputcap +off/)
})

/** Gives a folder its development dependencies, and nothing else, as `npm install` does. */
async function linkDependencies(folder: string): Promise<void> {
  const { devDependencies } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'))
  for (const name of [...Object.keys(devDependencies), '.bin/tsc']) {
    const at = path.join(folder, 'node_modules', name)
    await mkdir(path.dirname(at), { recursive: true })
    await symlink(path.resolve('node_modules', name), at)
  }
}

const kinds = ['module', 'area', 'provider']
const fresh = kinds.map((kind) => `fresh-${kind}`)
const examples = ['turnlimit', 'ticketveil', 'acmemodels']

describe('new plugins and the examples', () => {
  beforeAll(async () => {
    for (const name of examples)
      await cp(`examples/${name}`, path.join(outside.folder, name), { recursive: true })
    for (const kind of kinds)
      await outside.succeed(['switchyard', 'plugin', 'new', `fresh-${kind}`, '--kind', kind])
  }, minutes)

  test('each passes its own tests', { timeout: 2 * minutes }, async () => {
    expect(await outside.succeed(['node', '--test'], fresh[0])).toMatch(/pass [1-9]/)
    // In one process, which loads the gateway once for all others.
    const others = [...fresh.slice(1), ...examples]
    const together = ['--test', '--test-isolation=none', '--test-reporter=junit']
    const files = others.map((name) => `${name}/*.test.{ts,js}`)
    const report = await outside.succeed(['node', ...together, ...files])
    const ran = [...report.matchAll(/<testcase .*file="(.*?)"/g)].map(([, file]) => file!)
    const whose = ran.map((file) => path.basename(path.dirname(file)))
    expect(new Set(whose)).toEqual(new Set(others))
  })

  test('each passes the checks of every plugin', { timeout: 2 * minutes }, async () => {
    await outside.succeed(['switchyard', 'plugin', 'check', fresh[0]!])
    const code = `import { checkPlugin } from 'switchyard/testing'
      const failed = {}
      for (const name of process.argv.slice(1))
        failed[name] = (await checkPlugin(name)).filter(({ ok }) => !ok)
      console.log(JSON.stringify(failed))
      process.exit()`
    const names = [...fresh.slice(1), ...examples]
    const output = await outside.succeed(['node', '--input-type=module', '-e', code, ...names])
    expect(JSON.parse(output.trim().split('\n').at(-1)!)).toEqual(
      Object.fromEntries(names.map((name) => [name, []])),
    )
  })

  test.each(fresh)('%s has right types', { timeout: minutes }, async (name) => {
    await linkDependencies(path.join(outside.folder, name))
    // By npm as people do, and by what starts in no time where that is shown.
    await outside.succeed(name === fresh[0] ? ['npm', 'run', 'types'] : ['node', '--run', 'types'], name)
  })

  test.each([...fresh, ...examples])(
    'npm installs nothing of the name switchyard beside %s',
    async (name) => {
      const about = JSON.parse(await readFile(path.join(outside.folder, name, 'package.json'), 'utf8'))
      expect(about.peerDependencies).toHaveProperty('switchyard')
      expect(about.peerDependenciesMeta).toEqual({ switchyard: { optional: true } })
    },
  )

  test('where the package is not installed, a new one says that its tests need it, and how this program is called', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-new-'))
    const { out } = await runHere(folder, { npm_lifecycle_event: 'switchyard' }, 'plugin', 'new', 'alone')
    expect(out).toContain('Its tests need the package switchyard, which is not installed here')
    expect(out).toContain('npm run switchyard -- plugin dev alone')
    const beside = await runHere(outside.folder, {}, 'plugin', 'new', 'beside')
    expect(beside.out).toContain('Run its tests: cd beside && node --test')
    await rm(folder, { recursive: true })
    await rm(path.join(outside.folder, 'beside'), { recursive: true })
  })

  test.each(kinds)('a new %s is not written over', async (kind) => {
    const { code, err } = await runHere(outside.folder, {}, 'plugin', 'new', `fresh-${kind}`, '--kind', kind)
    expect([code, err]).toEqual([1, expect.stringContaining('exists already')])
  })

  test('each new one is a package as it is', { timeout: minutes }, async () => {
    const folders = fresh.map((name) => `./${name}`)
    const packed = JSON.parse(
      await outside.succeed(['npm', 'pack', '--dry-run', '--json', '--silent', ...folders]),
    )
    expect(packed).toHaveLength(fresh.length)
    for (const { files } of packed as { files: { path: string }[] }[]) {
      const names = files.map((file) => file.path)
      expect(names).toContain('package.json')
      expect(names.filter((name) => name.endsWith('.test.ts'))).toEqual([])
    }
  })
})

test('the tutorial leads to an installed package, step by step', { timeout: 5 * minutes }, async () => {
  const page = await readFile('docs/plugins/tutorial.md', 'utf8')
  const { steps, last, gateway } = await followPage(page, outside, 'tutorial', {
    SERVICE_ADMIN_KEY: adminKey,
  })
  try {
    expect(last).toContain('shortly 0.1.0 from switchyard-shortly')
    const response = await fetch(`${gateway.url}/api/plugins/shortly`, {
      headers: { authorization: `Bearer ${adminKey}` },
    })
    expect(await response.json()).toMatchObject({ state: 'active', source: 'package' })
  } finally {
    await gateway.end('SIGTERM')
  }
  console.info(steps.map(({ what, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${what}`).join('\n'))
})

describe('a gateway that runs from the package', () => {
  let upstream: Upstream
  let gateway: GatewayProcess
  const plugins = (...below: string[]) => path.join(outside.folder, 'site', 'plugins', ...below)

  beforeAll(async () => {
    upstream = await startUpstream({ apiKey: 'its-key' })
    for (const name of examples) await cp(`examples/${name}`, plugins(name), { recursive: true })
    const yaml = `plugin_dirs: [plugins]
providers: { acmemodels: { base_url: '${upstream.baseUrl()}', api_key: its-key } }
`
    await writeFile(plugins('..', 'service.yaml'), yaml)
    gateway = await outside.start('site', { SERVICE_ADMIN_KEY: adminKey })
  }, minutes)

  afterAll(async () => {
    await gateway.end('SIGTERM')
    await upstream.close()
  })

  const api = async (method: string, at: string, body?: unknown) => {
    const response = await fetch(gateway.url + at, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
    return { status: response.status, body: (await response.json()) as any }
  }
  const call = async (turns = 1, stream = false) => {
    const messages = Array.from({ length: turns }, () => ({ role: 'user', content: 'Is OPS-1234 done?' }))
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}` },
      body: JSON.stringify({ model: 'acmemodels-large', messages, stream }),
    })
    return { status: response.status, text: await response.text() }
  }

  test('takes the examples from its folder of plugins, and each does its part', async () => {
    for (const [name, config] of Object.entries({ acmemodels: {}, ticketveil: {}, turnlimit: { most: 2 } }))
      expect((await api('PUT', `/api/plugins/${name}`, { enabled: true, config })).body).toMatchObject({
        state: 'active',
        source: 'local',
      })
    for (const stream of [false, true]) {
      upstream.reply({ content: 'No, OPS-1234 waits.', ...(stream && { splitBytes: 1 }) })
      const { status, text } = await call(1, stream)
      expect(status).toBe(200)
      expect(text).not.toContain('1234')
      expect(upstream.last().rawBody).toContain('Is [ticket] done?')
    }
    expect(await call(3)).toMatchObject({ status: 400, text: expect.stringContaining('turnlimit') })
    await api('PUT', '/api/plugins/turnlimit', { enabled: false })
    expect((await call(3)).status).toBe(200)
  })

  test('keeps what runs when one is broken, says where, and takes it again when it is put right', async () => {
    const file = plugins('ticketveil', 'tickets.ts')
    const sound = await readFile(file, 'utf8')
    await writeFile(file, sound.replace('const reach = 18', 'const reach = = 18'))
    const refused = await api('POST', '/api/plugins/ticketveil/reload')
    expect(refused).toMatchObject({ status: 409, body: { error: { message: expect.anything() } } })
    expect(refused.body.error.message).toMatch(/tickets\.ts:\d+: const reach = = 18/)
    await call()
    expect(upstream.last().rawBody).toContain('[ticket]')
    await writeFile(file, sound.replace('[A-Z]{2,10}', '[A-Z]{4,10}'))
    expect((await api('POST', '/api/plugins/ticketveil/reload')).body).toMatchObject({
      reloaded: true,
      problem: null,
    })
    await call()
    expect(upstream.last().rawBody).toContain('OPS-1234')
  })

  test('stops what is removed, and takes the same from its archive', { timeout: 2 * minutes }, async () => {
    await rm(plugins('ticketveil'), { recursive: true })
    expect((await api('POST', '/api/plugins/rescan')).body).toMatchObject({ removed: ['ticketveil'] })
    await cp('examples/ticketveil', path.join(outside.folder, 'veil'), { recursive: true })
    await outside.succeed(['npm', 'pack', './veil'])
    const where = ['--url', gateway.url, '--key', adminKey]
    // Its conduct was checked above, and a check before an add is what the tutorial has.
    const how = ['--yes', '--no-check', ...where]
    await outside.succeed(
      ['switchyard', 'plugin', 'add', '../switchyard-ticketveil-1.0.0.tgz', ...how],
      'site',
    )
    await call()
    expect(upstream.last().rawBody).toContain('[ticket]')
    await gateway.end('SIGTERM')
    gateway = await outside.start('site', { SERVICE_ADMIN_KEY: adminKey })
    await call()
    expect(upstream.last().rawBody).toContain('[ticket]')
    await outside.succeed(
      ['switchyard', 'plugin', 'remove', 'ticketveil', '--url', gateway.url, '--key', adminKey],
      'site',
    )
    await call()
    expect(upstream.last().rawBody).toContain('OPS-1234')
  })
})

test.each(['Upper', '1st', 'a_b', '../up', 'maskmode', 'x'.repeat(65)])(
  'a plugin cannot be called %s',
  async (name) => {
    const { code, err } = await runHere(outside.folder, {}, 'plugin', 'new', name)
    expect([code, err]).toEqual([1, expect.stringMatching(/cannot be a plugin's name|already/)])
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
