import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Level } from 'level'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { hashTree } from '../../gateway/discovery/installed.ts'
import { mountSmallDisk } from '../../storage/conformance/small-disk.ts'
import { openLevel } from '../../storage/level.ts'
import { type Ended, runApart, runHere } from '../../test/commands.ts'
import { startGateway } from '../../test/harness.ts'
import { moduleCode, writePlugin } from '../../test/plugin-folder.ts'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { bpe } from '../../test/tokenizer-files.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'

let folder: string
let upstream: Upstream | undefined
const running: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-cli-'))
})

afterEach(async () => {
  for (const end of running.splice(0)) await end()
  await upstream?.close()
  upstream = undefined
  await rm(folder, { recursive: true, force: true })
})

type Environment = Record<string, string>

/** Runs a command to its end, in the test's folder and with nothing of our own environment. */
const run = (args: readonly string[], env: Environment = {}): Promise<Ended> => runHere(folder, env, ...args)

/** The same in a process of its own. */
const runAlone = (args: readonly string[], env: Environment = {}): Promise<Ended> =>
  runApart(folder, env, ...args)

/** Starts the gateway in the test's folder; it ends with the test at the latest. */
async function start(env: Environment = {}): Promise<GatewayProcess> {
  const gateway = await startProcess(env, folder)
  running.push(() => gateway.end('SIGKILL'))
  return gateway
}

async function configure(text: string): Promise<void> {
  await writeFile(path.join(folder, 'service.yaml'), text)
}

async function occupied(): Promise<{ port: string; server: Server }> {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  running.push(() => new Promise((resolve) => server.close(resolve)))
  return { port: String((server.address() as { port: number }).port), server }
}

describe('start', () => {
  it('in a fresh folder prints a call that works when it is pasted', async () => {
    const gateway = await start()
    const line = /^Try: (.*)$/m.exec(gateway.output())![1]!
    const pasted = await new Promise<string>((resolve, reject) => {
      execFile('sh', ['-c', `${line} --silent --show-error`], (error, out) =>
        error ? reject(error) : resolve(out),
      )
    })
    expect(JSON.parse(pasted)).toMatchObject({
      choices: [{ message: { content: expect.stringContaining('Hello') } }],
    })
    expect(gateway.output().split('\n').length).toBeLessThan(12)
  })

  it('shows the admin key at the first start only', async () => {
    const first = await start()
    const key = /shown only once: (sy_admin_\S+)/.exec(first.output())?.[1]
    await first.end('SIGTERM')
    const second = await start()
    expect(second.output()).not.toContain('sy_admin_')
    const response = await fetch(`${second.url}/api/proxy/chain`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(response.status).toBe(200)
  })

  it.each([
    ['modle', '; the nearest is modules'],
    ['xyzzy', ''],
  ])('is not taken for a command that there is not: %s', async (name, hint) => {
    const { code, out, err } = await runAlone([name, '--json'])
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(new RegExp(`^error: unknown command '${name}'${hint}\\. These are the commands:\n`))
    expect(err).toContain('  doctor [options]')
    expect((await runAlone(['start', 'now'])).err).toContain("too many arguments for 'start'")
  })

  it('says what is wrong with the configuration, a line for each problem, and exits with 78', async () => {
    await configure(`server: { threads: many }\nadmin_key: \${NOT_SET}\n`)
    const { code, out, err } = await runAlone(['start'])
    expect(code).toBe(78)
    expect(out).toBe('')
    expect(err.trim().split('\n')).toEqual([
      expect.stringContaining('service.yaml line 1: server.threads:'),
      expect.stringMatching(/service\.yaml line 2: admin_key: .*NOT_SET/),
    ])
  })

  it('says what is wrong with the sections of plugins, and with keys that are none of theirs', async () => {
    await configure('prot: 4200\nroutes: 1\nprices: { gpt: {} }\n')
    const { code, out, err } = await runAlone(['start'])
    expect([code, out]).toEqual([78, ''])
    expect(err.trim().split('\n')).toEqual([
      expect.stringContaining('service.yaml line 1: prot: unknown key; the nearest known one is port'),
      expect.stringContaining('service.yaml line 2: routes: expected a list, got 1'),
      expect.stringContaining('service.yaml line 3: prices.gpt: expected provider/model'),
    ])
  })

  it('refuses settings for a module that is not there, or that it does not have, also where it is off', async () => {
    await configure(
      [
        'modules:',
        '  outputcup: { enabled: true }',
        '  outputcap: { when: { model: x } }',
        '  rateshield:',
        '    config:',
        '      rulez: []',
        '  observe: { config: { bodeis: full } }',
        '  cachelayer:',
        '    enabled: false',
        '    bindings: { docs: { config: { ttl: 1 } } }',
        '    config: { ttl_s: soon }',
        'routes: 1',
        'autopilot: { enabled: true }',
      ].join('\n'),
    )
    const expected = [
      'line 2: modules.outputcup: unknown module; the nearest is outputcap',
      'line 3: modules.outputcap.when.model: unknown key; the nearest known one is modules.outputcap.when.models',
      'line 6: modules.rateshield.config.rulez: unknown key; the nearest known one is modules.rateshield.config.rules',
      'line 7: modules.observe.config.bodeis: unknown key; the nearest known one is modules.observe.config.bodies',
      'line 10: modules.cachelayer.bindings.docs.config.ttl: unknown key; the nearest known one is modules.cachelayer.bindings.docs.config.ttl_s',
      'line 11: modules.cachelayer.config.ttl_s: expected number, got "soon"',
      'line 12: routes: expected a list, got 1',
      'line 13: autopilot.reference_model: must name a model while autopilot is enabled, to answer where no other qualifies, got nothing',
    ].map((line) => `service.yaml ${line}`)
    const { code, err } = await runAlone(['start'])
    expect([code, err.trim().split('\n')]).toEqual([78, expected])
    const told = await runAlone(['doctor', '--json'])
    const checks: { name: string; message: string }[] = JSON.parse(told.out).checks
    const problems = checks.filter(({ name }) => name === 'configuration').map(({ message }) => message)
    expect([told.code, problems]).toEqual([78, expected])
  })

  it('refuses what a plugin finds wrong in its section, and has not used up the admin key that nobody saw', async () => {
    await configure('tokenizers: { acme: { models: [acme-*], file: lost.json } }\n')
    const { code, out, err } = await runAlone(['start'], { SERVICE_PORT: '0' })
    expect([code, out]).toEqual([78, ''])
    expect(err.trim().split('\n').at(-1)).toBe(
      `service.yaml line 1: tokenizers.acme: ${path.join(folder, 'lost.json')}: the file does not exist`,
    )
    // What had begun beside it, and was ended with it, is no fault.
    expect(err).not.toContain('background task')
    await configure('')
    expect((await start()).output()).toContain('sy_admin_')
  })

  it('has shown the admin key and ends when something fails after it was made', async () => {
    await mkdir(path.join(folder, 'data', 'running.json'), { recursive: true })
    const { code, out, err } = await runAlone(['start'], { SERVICE_PORT: '0' })
    expect([code, err]).toEqual([1, expect.stringMatching(/^The gateway could not start: EISDIR/m)])
    const key = /shown only once: (sy_admin_\S+)/.exec(out)?.[1]
    await rm(path.join(folder, 'data', 'running.json'), { recursive: true })
    const { url } = await start()
    const headers = { authorization: `Bearer ${key}` }
    expect((await fetch(`${url}/api/proxy/chain`, { headers })).status).toBe(200)
  })

  it('says that the port is in use, and has not used up the admin key that nobody saw', async () => {
    const { port, server } = await occupied()
    const { code, err } = await runAlone(['start'], { SERVICE_PORT: port })
    expect(code).toBe(1)
    expect(err.trim()).toBe(
      `The gateway could not start: port ${port} on 127.0.0.1 is in use. Stop the program that uses it, or choose another port with SERVICE_PORT.`,
    )
    server.close()
    expect((await start()).output()).toContain('sy_admin_')
  })

  it('says that another process has the data folder open', async () => {
    await start()
    const { code, err } = await runAlone(['start'], { SERVICE_PORT: '0' })
    expect(code).toBe(1)
    expect(err).toContain('Another process has')
  })

  it('says that its disk is read-only, and what to do', async ({ skip }) => {
    await using disk = await mountSmallDisk(1)
    if (!disk) return skip('mounting a disk is not allowed here')
    await promisify(execFile)('mount', ['-o', 'remount,ro', disk.folder])
    const data = path.join(disk.folder, 'data')
    const { code, err } = await runAlone(['start'], { SERVICE_DATA_DIR: data })
    expect([code, err.trim()]).toEqual([
      78,
      `The gateway could not start: ${data} cannot be created: ${disk.folder}: its disk is read-only. ` +
        'Choose another folder with SERVICE_DATA_DIR or data_dir, or let this user write there.',
    ])
  })

  it.skipIf(process.platform !== 'linux').each([
    ['/proc/data', 'cannot be created: /proc: nothing can be made there (ENOENT)'],
    ['/proc', 'is not writable: nothing can be made there (ENOENT)'],
    ['/dev/null/data', 'cannot be created: /dev/null is not a folder'],
  ])('refuses to start in %s, where no user can make a folder', async (data, problem) => {
    const { code, err } = await runAlone(['start'], { SERVICE_DATA_DIR: data })
    expect([code, err.trim()]).toEqual([
      78,
      `The gateway could not start: ${data} ${problem}. ` +
        'Choose another folder with SERVICE_DATA_DIR or data_dir, or let this user write there.',
    ])
  })

  it('warns of an admin key that can be guessed', async () => {
    const gateway = await start({ SERVICE_ADMIN_KEY: 'hello' })
    expect(gateway.output()).toContain('The admin key is weak')
    expect(gateway.output()).not.toMatch(/"hello"|Bearer hello/)
  })

  it('told to stop, lets a running stream end, sends new calls away, and exits with 0', async () => {
    upstream = await startUpstream()
    const words = Array.from({ length: 20 }, (_, n) => `w${n} `)
    upstream.reply({ content: words, gapMs: 50 })
    await configure(`providers: { openai: { base_url: "${upstream.baseUrl()}", api_key: sk-test } }\n`)
    const gateway = await start({ SERVICE_ADMIN_KEY: adminKey })
    const ask = (stream: boolean) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o', stream, messages: [{ role: 'user', content: 'hi' }] }),
      })
    const stream = await ask(true)
    const ended = gateway.end('SIGTERM')
    await expect.poll(gateway.output).toContain('SIGTERM')
    const refused = await ask(false)
    expect(refused.status).toBe(503)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const text = await stream.text()
    for (const word of words) expect(text).toContain(JSON.stringify(word).slice(1, -1))
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(await ended).toBe(0)
  })
})

describe('doctor', () => {
  const doctor = async (args: readonly string[] = [], env: Environment = {}) => {
    const { code, out } = await run(['doctor', '--json', ...args], { SERVICE_PORT: '0', ...env })
    const { status, checks } = JSON.parse(out) as {
      status: string
      checks: { name: string; status: string; message: string }[]
    }
    const of = (name: string) => checks.filter((check) => check.name === name)
    return { code, status, checks, of }
  }

  it('warns of folders of plugins that are not there', async () => {
    await writeFile(path.join(folder, 'service.yaml'), 'plugin_dirs: [nowhere]\n')
    const { of } = await doctor()
    expect(of('plugins')).toContainEqual({
      name: 'plugins',
      status: 'warning',
      message: `plugin_dirs: the folder ${path.join(folder, 'nowhere')} does not exist.`,
    })
  })

  it('says what is damaged in the store and what is lost, and repairs it with a copy kept', async () => {
    const store = path.join(folder, 'data', 'db')
    const options = { schema: z.object({ n: z.int() }), indexes: { n: (row: { n: number }) => row.n % 5 } }
    const engine = await openLevel(store)
    const rows = engine.namespace('kernel').collection('numbers', options)
    await Promise.all(Array.from({ length: 2000 }, (_, n) => rows.put(`row-${n}`, { n })))
    await engine.compact()
    await engine.close()
    const table = path.join(store, (await readdir(store)).find((name) => name.endsWith('.ldb'))!)
    const bytes = await readFile(table)
    await writeFile(table, bytes.fill(0x55, 20_000, 20_030))

    const damaged = await doctor()
    expect(damaged.code).toBe(1)
    expect(damaged.of('files')).toEqual([
      {
        name: 'files',
        status: 'failed',
        message: expect.stringMatching(
          /1 of its blocks.*lost: rows in these blocks, of collection kernel\/numbers.*--repair/,
        ),
      },
    ])
    const repaired = await doctor(['--repair'])
    expect(repaired.code).toBe(0)
    expect(repaired.of('files')).toMatchObject([
      { status: 'warning', message: expect.stringContaining('Repaired') },
    ])
    expect(repaired.of('counts')).toMatchObject([
      { status: 'warning', message: expect.stringContaining('Corrected') },
    ])
    const [copy] = (await readdir(path.join(folder, 'data'))).filter((name) =>
      name.startsWith('db-before-repair'),
    )
    expect(await readFile(path.join(folder, 'data', copy!, path.basename(table)))).toEqual(bytes)
    const after = await doctor()
    expect([
      after.code,
      ...[...after.of('files'), ...after.of('counts')].map(({ status }) => status),
    ]).toEqual([0, 'ok', 'ok'])
    const again = await openLevel(store)
    running.push(() => again.close())
    const left = await again.namespace('kernel').collection('numbers', options).count()
    expect(left).toBeGreaterThan(1500)
    expect(left).toBeLessThan(2000)
    expect((await doctor(['--repair'])).of('store')).toMatchObject([
      { status: 'failed', message: expect.stringContaining('Stop it') },
    ])
  })

  it('finds nothing wrong with a fresh folder, and makes nothing in it', async () => {
    const { code, status, of } = await doctor([], { SERVICE_DATA_DIR: path.join(folder, 'not', 'yet') })
    expect([code, status]).toEqual([0, 'ok'])
    expect(of('data folder')).toMatchObject([
      { status: 'ok', message: expect.stringContaining('will be created') },
    ])
    expect(of('providers')).toMatchObject([{ status: 'warning' }])
    const { out } = await runAlone(['doctor'], { SERVICE_PORT: '0' })
    expect(out.trim().split('\n')).toEqual(
      out
        .trim()
        .split('\n')
        .map(() => expect.stringMatching(/^[✓!] [a-z ]+: /)),
    )
  })

  it('knows a gateway that runs already from something else on its port', async () => {
    const gateway = await start()
    const beside = await doctor([], { SERVICE_PORT: new URL(gateway.url).port })
    expect(beside.code).toBe(0)
    expect(beside.of('store')).toMatchObject([{ status: 'ok' }])
    const { port } = await occupied()
    const { code, of } = await doctor([], {
      SERVICE_PORT: port,
      SERVICE_DATA_DIR: path.join(folder, 'other'),
    })
    expect(code).toBe(1)
    expect(of('port')).toMatchObject([
      { status: 'failed', message: expect.stringContaining('another program') },
    ])
  })

  it('passes a backup beside the gateway that it is of', async () => {
    const gateway = await start({ SERVICE_ADMIN_KEY: adminKey })
    const copy = path.join(folder, 'copy')
    expect((await run(['backup', copy], { SERVICE_ADMIN_KEY: adminKey })).code).toBe(0)
    const { code, of } = await doctor([], { SERVICE_DATA_DIR: copy, SERVICE_PORT: new URL(gateway.url).port })
    expect(of('port')).toEqual([
      {
        name: 'port',
        status: 'warning',
        message: `A gateway with another data folder listens on ${gateway.url}.`,
      },
    ])
    expect(code).toBe(0)
  })

  it('finds the gateway of the data folder wherever it listens, and whatever key it alone has', async () => {
    const gateway = await start({ SERVICE_ENCRYPTION_KEY: 'a long enough passphrase' })
    const beside = await doctor([], { SERVICE_ADMIN_KEY: 'hello' })
    expect([beside.code, beside.status]).toEqual([0, 'ok'])
    expect(beside.of('port')).toMatchObject([{ message: expect.stringContaining(gateway.url) }])
    expect(beside.of('store')).toMatchObject([{ message: 'The running gateway has it open.' }])
    expect(beside.of('encryption key')).toMatchObject([{ status: 'warning' }])
    expect(beside.of('admin key')).toMatchObject([{ status: 'warning' }])
    await gateway.end('SIGKILL')
    expect((await doctor()).of('port')).toMatchObject([{ message: expect.stringContaining('free') }])
  })

  it('names each problem of the configuration and exits with 78', async () => {
    await configure('prot: 1\nhots: 2\n')
    const { code, of } = await doctor()
    expect(code).toBe(78)
    expect(of('configuration')).toHaveLength(2)
  })

  it('finds settings that a module does not take, broken plugins, and providers and routes that lead nowhere', async () => {
    await mkdir(path.join(folder, 'plugins', 'torn'), { recursive: true })
    await writeFile(path.join(folder, 'plugins', 'torn', 'manifest.json'), '{')
    const manifest = { requires: ['groq', 'spend', 'absent'] }
    await writePlugin(path.join(folder, 'plugins'), 'needy', {
      manifest,
      files: { 'index.js': moduleCode('return {}') },
    })
    await configure(`
modules: { outputcap: { enabled: true, config: { default_max_tokens: many } } }
providers: { unheard: { api_key: k }, mistyped: { type: openia, api_key: k } }
routes: [{ match: "x-*", provider: nobody }]
plugin_dirs: [plugins]
`)
    const { code, of } = await doctor()
    expect(code).toBe(78)
    expect(of('configuration')).toMatchObject([
      {
        status: 'failed',
        message: expect.stringContaining(
          'line 2: modules.outputcap.config.default_max_tokens: expected number, got "many"',
        ),
      },
    ])
    expect(of('plugins')).toContainEqual(
      expect.objectContaining({ status: 'failed', message: expect.stringMatching(/^torn: /) }),
    )
    expect(of('plugins')).toContainEqual(
      expect.objectContaining({
        message: 'needy is on and does not run: it needs absent, which must be switched on.',
      }),
    )
    expect(of('providers')).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('unheard') }),
    )
    expect(of('providers')).toContainEqual({
      name: 'providers',
      status: 'failed',
      message:
        'providers.mistyped: there is no provider or protocol openia. Set another type, for example openai.',
    })
    expect(of('routes')).toMatchObject([{ status: 'failed', message: expect.stringContaining('nobody') }])
    await configure(
      [
        'providers: { mistyped: { type: openia, base_url: "http://127.0.0.1:9", api_key: k } }',
        'routes: [{ match: "gpt-*", provider: nobody }]',
        'modules: { chaosllm: { enabled: true } }',
      ].join('\n'),
    )
    const started = await start({ SERVICE_ADMIN_KEY: adminKey })
    const stopped = {
      status: 'failed',
      message: expect.stringMatching(/^chaosllm is on and does not run: .*\./),
    }
    expect((await doctor([], { SERVICE_ADMIN_KEY: adminKey })).of('plugins')).toContainEqual(
      expect.objectContaining(stopped),
    )
    const said = started.output()
    expect(said).toMatch(
      /^Not used: providers\.mistyped: .* openia\. Set another type, for example openai\.$/m,
    )
    expect(said).toMatch(/^Not used: The route for gpt-\* leads to nobody, which is no known provider\.$/m)
    expect(said).not.toContain('Providers in use: mistyped')
    // A built-in one that cannot start is tried once.
    expect(said.match(/a plugin could not be started/g)).toHaveLength(1)
  })

  it.each(['folder', 'package'])(
    'knows the protocols that a plugin of a %s brings in code, and which types nothing explains',
    async (place) => {
      const own = `const settings = { safeParse: (data) => ({ success: true, data }) }
export default { settings, setup(ctx) { ctx.protocol({ id: 'house-wire', wires: {} }) } }
`
      const manifest = { kind: 'area', requires: ['upstream'], permissions: ['providers'] }
      const packages = path.join(folder, 'data', 'packages')
      const root = place === 'folder' ? path.join(folder, 'plugins') : packages
      const made = await writePlugin(root, 'brings', { manifest, files: { 'index.js': own } })
      if (place === 'package') {
        const written = JSON.parse(await readFile(path.join(made, 'manifest.json'), 'utf8'))
        const about = { package: 'brings', spec: 'brings', version: '1.0.0', integrity: 'sha512-none' }
        const where = { root: 'brings', folder: 'brings', content: await hashTree(made), installed_at: 'now' }
        const plugins = { brings: { current: { ...about, ...where, manifest: written } } }
        await writeFile(path.join(packages, 'installed.json'), JSON.stringify({ format: 1, plugins }))
      }
      const like = 'base_url: "http://127.0.0.1:9", api_key: k'
      await configure(`
providers: { ours: { type: house-wire, ${like} }, mistyped: { type: house-wir, ${like} } }
plugin_dirs: [${place === 'folder' ? 'plugins' : ''}]
`)
      const { code, of } = await doctor()
      expect(code).toBe(1)
      expect(of('providers')).toMatchObject([
        { status: 'ok', message: expect.stringContaining('ours (config)') },
        {
          status: 'failed',
          message:
            'providers.mistyped: there is no provider or protocol house-wir. Set another type, for example house-wire.',
        },
      ])
      expect(of('providers')[0]!.message).not.toContain('mistyped')
    },
  )

  it('makes every other check where one cannot be made', async () => {
    const others = ['data folder', 'port']
    const broken = async (message: unknown) => {
      const { code, checks, of } = await doctor()
      expect([code, of('plugins').filter(({ status }) => status === 'failed')]).toEqual([
        1,
        [{ name: 'plugins', status: 'failed', message }],
      ])
      expect(checks.map(({ name }) => name)).toEqual(expect.arrayContaining(others))
    }
    const hanging = path.join(folder, 'plugins', 'hanging')
    await mkdir(hanging, { recursive: true })
    const manifest = { kind: 'module', stage: 'limits', failure: 'open', version: '1.0.0', api: '^3.0.0' }
    const texts = { id: 'hanging', title: 'T', description: 'D.', permissions: [] }
    await writeFile(path.join(hanging, 'manifest.json'), JSON.stringify({ ...manifest, ...texts }))
    await writeFile(path.join(hanging, 'index.js'), 'await new Promise(() => {})\nexport default {}\n')
    await configure('plugin_dirs: [plugins]\nplugins: { setup_timeout: 1s }\n')
    await broken('hanging: its import took longer than 1 seconds')
    const { code, out } = await runAlone(['doctor'], { SERVICE_PORT: '0' })
    expect([code, out]).toEqual([1, expect.stringContaining('! providers')])
    await configure('')
    await mkdir(path.join(folder, 'data', 'packages'), { recursive: true })
    await writeFile(path.join(folder, 'data', 'packages', 'installed.json'), '{ "trunc')
    await broken(expect.stringContaining('installed.json'))
  })

  it('says that what is in the place of the data folder cannot be read', async () => {
    await writeFile(path.join(folder, 'data'), '')
    const { code, of } = await doctor()
    expect([code, of('data folder'), of('store')]).toEqual([
      1,
      [{ name: 'data folder', status: 'failed', message: expect.stringContaining('ENOTDIR') }],
      [],
    ])
    expect(of('port')).toHaveLength(1)
  })

  it('tries the tokenizers that the file names, and says what each counts', async () => {
    await writeFile(path.join(folder, 'tokenizer.json'), JSON.stringify(bpe))
    await configure(`
tokenizers:
  acme: { models: [acme-*], file: tokenizer.json }
  lost: { models: [lost-*], file: lost.json }
`)
    const { code, of } = await doctor()
    expect(code).toBe(1)
    expect(of('tokenizer acme')).toMatchObject([
      {
        status: 'ok',
        message: expect.stringMatching(/^276 tokens, for acme-\*; conversations are estimated/),
      },
    ])
    expect(of('tokenizer lost')).toMatchObject([
      { status: 'failed', message: expect.stringContaining('the file does not exist') },
    ])
  })

  it('finds that the encryption key is missing or damaged', async () => {
    const withPassphrase = await startGateway({
      dataDir: path.join(folder, 'data'),
      env: { SERVICE_ENCRYPTION_KEY: 'a long enough passphrase' },
    })
    await withPassphrase.close()
    const without = await doctor()
    expect(without.of('encryption key')).toMatchObject([{ status: 'failed' }])
    await writeFile(path.join(folder, 'data', 'secrets', 'encryption.key'), 'short')
    const damaged = await doctor()
    expect(damaged.of('encryption key')).toMatchObject([
      { status: 'failed', message: expect.stringContaining('damaged') },
    ])
  })

  it('finds sums that are no numbers, and takes them out when told to repair', async () => {
    const gateway = await startGateway({ dataDir: path.join(folder, 'data') })
    await gateway.close()
    const database = new Level<string, string>(path.join(folder, 'data', 'db'))
    await database.put('n/plugins/auth/usage!2026-11/usr_1/tokens_in', '1e300')
    await database.close()
    expect((await doctor()).of('figures')).toMatchObject([
      { status: 'warning', message: expect.stringContaining('1 of plugins/auth/usage') },
    ])
    expect((await doctor(['--repair'])).of('figures')).toMatchObject([
      { status: 'ok', message: expect.stringContaining('1 of plugins/auth/usage') },
    ])
    expect((await doctor()).of('figures')).toMatchObject([{ status: 'ok' }])
  })

  it('finds traces that cannot be read, and mends or deletes them when told to repair, with a copy kept', async () => {
    const dataDir = path.join(folder, 'data')
    const engine = await openLevel(path.join(dataDir, 'db'))
    const log = engine
      .namespace('plugins')
      .namespace('observe')
      .log<{ id: string }>('traces', { id: ({ id }) => id, time: () => 1 })
    log.append({ id: 'tr_1' }, () => 'its bodies')
    await engine.close()
    expect((await doctor()).of('traces')).toMatchObject([
      { status: 'warning', message: expect.stringContaining('1 traces cannot be read') },
    ])
    expect(await readdir(dataDir)).toEqual(['db'])
    const [repaired] = (await doctor(['--repair'])).of('traces')
    expect(repaired).toMatchObject({ status: 'ok', message: expect.stringContaining('1 deleted') })
    const copy = (await readdir(dataDir)).find((name) => name.startsWith('traces-before-repair-'))!
    expect(repaired!.message).toContain(copy)
    expect(JSON.parse(await readFile(path.join(dataDir, copy), 'utf8'))).toEqual({
      line: '{"id":"tr_1"}',
      body: 'its bodies',
    })
    expect((await doctor()).of('traces')).toMatchObject([
      { status: 'ok', message: 'All traces can be read.' },
    ])
  })

  it('really asks the providers, when told to', async () => {
    upstream = await startUpstream()
    await configure(`
providers:
  openai: { base_url: "${upstream.baseUrl()}", api_key: sk-test }
  other: { type: openai, base_url: "${upstream.baseUrl()}", api_key: sk-wrong-one }
`)
    await doctor()
    expect(upstream.requests).toHaveLength(0)
    const { code, checks, of } = await doctor(['--check-providers'])
    expect(code).toBe(1)
    expect(of('provider openai')).toMatchObject([{ status: 'ok' }])
    expect(of('provider other')).toMatchObject([{ status: 'failed' }])
    expect(JSON.stringify(checks)).not.toContain('sk-wrong-one')
  })
})

describe('modules', () => {
  it('lists the catalogue, for people and for programs', async () => {
    const { code, out } = await runAlone(['modules'])
    expect(code).toBe(0)
    expect(out).toMatch(/^limits\n( {2}.*\n)* {2}outputcap +off {2}Limits/m)
    const listed = JSON.parse((await run(['modules', '--json'])).out) as {
      modules: { name: string }[]
      total: number
    }
    expect(listed.modules).toHaveLength(listed.total)
    expect(listed.modules.find(({ name }) => name === 'outputcap')).toMatchObject({
      category: 'limits',
      enabled: false,
    })
  })
})

it('an unknown command is refused with the help', async () => {
  const { code, err } = await runAlone(['strat'])
  expect(code).toBe(1)
  expect(err).toMatch(/Usage: switchyard/)
})
