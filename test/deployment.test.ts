import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from '../config/config.ts'
import { adminKey } from './harness.ts'
import { type GatewayProcess, inherited, listening } from './process.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

/** Instructions of the image's last stage, each on one line. */
const image = (await readFile('Dockerfile', 'utf8'))
  .replaceAll('\\\n', '')
  .split(/^FROM .*$/m)
  .at(-1)!
const instruction = (name: string): string => new RegExp(`^${name} (.*)$`, 'm').exec(image)![1]!
const words = (name: string): string[] => JSON.parse(/\[.*\]$/.exec(instruction(name))![0]) as string[]

const unit = await readFile('deploy/switchyard.service', 'utf8')
const setting = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)![1]!

/** Programs and files of the image and of the unit, as they are here. */
const here = (word: string): string =>
  /^(\/usr\/bin\/)?node$/.test(word)
    ? process.execPath
    : word.replace(/^(\/opt\/switchyard\/)?bin\//, `${process.cwd()}/bin/`)

const commands: Record<string, string[]> = {
  'the image': [...words('ENTRYPOINT'), ...words('CMD')].map(here),
  'the unit': setting('ExecStart').split(' ').map(here),
}

let folder: string
let upstream: Upstream
let gateway: GatewayProcess | undefined

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-deployed-'))
  upstream = await startUpstream()
  const providers = `providers: { openai: { base_url: "${upstream.baseUrl()}", api_key: sk-test } }\n`
  await writeFile(path.join(folder, 'service.yaml'), `${providers}drain: 10m\n`)
})

afterEach(async () => {
  await gateway?.end('SIGKILL')
  gateway = undefined
  await upstream.close()
  await rm(folder, { recursive: true })
})

const run = ([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv) =>
  spawn(program, args, { cwd: folder, env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })

const call = (url: string): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
  })

/** The image's own question whether the gateway is well; its exit code. */
async function healthOf(url: string): Promise<number> {
  const asking = run(words('HEALTHCHECK').map(here), { SERVICE_PORT: new URL(url).port })
  return (await once(asking, 'exit'))[0] as number
}

test('the image, the unit and the documentation give Node the flags of npm start', async () => {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: { start: string } }
  const documented = /^node .* start$/m.exec(await readFile('docs/operating.md', 'utf8'))![0]
  const flags = (all: readonly string[]): string[] => all.filter((word) => word.startsWith('--'))
  for (const command of [...Object.values(commands), documented.split(' ')])
    expect(flags(command)).toEqual(flags(scripts.start.split(' ')))
})

test.runIf(process.platform === 'linux')(
  'the process has one arena of memory, and remains the one that was started',
  async () => {
    const child = run(commands['the unit']!, { SERVICE_PORT: '0' })
    gateway = await listening(child, (signal) => child.kill(signal))
    expect((await readFile(`/proc/${child.pid}/environ`, 'utf8')).split('\0')).toContain('MALLOC_ARENA_MAX=1')
    expect(await gateway.end('SIGTERM')).toBe(0)
  },
)

describe.each(Object.keys(commands))('the command of %s', (whose) => {
  test('has a running stream end whole after SIGTERM, and says meanwhile that it drains', async () => {
    const child = run(commands[whose]!, { SERVICE_PORT: '0', SERVICE_ADMIN_KEY: adminKey })
    gateway = await listening(child, (signal) => child.kill(signal))
    const { url } = gateway
    expect(await healthOf(url)).toBe(0)
    const seen = Promise.withResolvers<void>()
    upstream.reply({ content: ['first', ' and', ' last'], gate: { opened: seen.promise, after: 2 } })
    const stream = await call(url)
    const ended = gateway.end('SIGTERM')
    await expect.poll(async () => (await fetch(`${url}/health`)).status, { timeout: 20_000 }).toBe(503)
    expect(await healthOf(url)).toBe(1)
    expect((await call(url)).status).toBe(503)
    seen.resolve()
    expect(await stream.text()).toMatch(/first.* and.* last.*data: \[DONE\]\n\n$/s)
    expect(await ended).toBe(0)
  })
})

test('the image runs as no root, listens for others, and keeps its data in a volume of that user', () => {
  expect(instruction('USER')).toBe('node')
  const variables = instruction('ENV').split(' ')
  expect(variables).toContain('SERVICE_HOST=0.0.0.0')
  expect(variables).toContain(`SERVICE_DATA_DIR=${instruction('VOLUME')}`)
  expect(image).toMatch(/--owner=node.* --mode=0700 \/data/)
})

test('the unit waits for longer than a gateway may take to stop, and does not repeat a wrong configuration', () => {
  const { drain, drainDelay } = loadConfig({ env: {}, cwd: path.join(folder, 'without-a-file') })
  const seconds = Number.parseInt(setting('TimeoutStopSec'), 10)
  expect(seconds * 1000).toBeGreaterThanOrEqual(drain + drainDelay + 15_000)
  expect(setting('KillMode')).toBe('mixed')
  expect(setting('RestartPreventExitStatus')).toBe('78')
})
