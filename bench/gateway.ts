import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { freePort } from './port.ts'
import { NodeProcess, SERVER_CORE } from './process.ts'
import { origin, type Target } from './target.ts'

/** The checkout that this benchmark is part of. */
export const OWN_CHECKOUT = new URL('..', import.meta.url).pathname
const BOOT_MS = 30_000

/** The gateway under test, with its admin's key. */
export interface Gateway extends Target {
  readonly adminKey: string
}

/** False in a checkout whose kernel cannot be started. */
export function hasGateway(): boolean {
  return existsSync(join(OWN_CHECKOUT, 'bin/main.ts'))
}

/** What `npm start` gives Node in this checkout: its flags, and the file that it runs. */
function startScript(checkout: string): { flags: string[]; file: string } {
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'))
  const words = String(scripts.start).split(' ').slice(1)
  const file = words.find((word) => !word.startsWith('--'))
  return { flags: words.filter((word) => word.startsWith('--')), file: join(checkout, file ?? '') }
}

/** Starts a checkout's gateway as an operator would, with a data folder of its own, and signs a user up. */
export async function startGateway(
  upstreamPort: number,
  name = 'gateway',
  checkout = OWN_CHECKOUT,
): Promise<Gateway> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'))
  const config = join(folder, 'service.yaml')
  const upstream = origin(upstreamPort)
  const providers = {
    openai: { base_url: `${upstream}/v1`, api_key: 'sk-bench' },
    anthropic: { base_url: upstream, api_key: 'sk-ant-bench' },
  }
  await writeFile(config, JSON.stringify({ providers }))
  const port = await freePort()
  const adminKey = `sy_admin_${randomBytes(24).toString('base64url')}`
  const process = new NodeProcess({
    ...startScript(checkout),
    args: ['start'],
    core: SERVER_CORE,
    env: {
      // What the gateway gives itself where no channel to the benchmark keeps it from that.
      MALLOC_ARENA_MAX: '1',
      SERVICE_PORT: String(port),
      SERVICE_HOST: '127.0.0.1',
      SERVICE_DATA_DIR: join(folder, 'data'),
      SERVICE_ADMIN_KEY: adminKey,
      SERVICE_CONFIG: config,
      SERVICE_LOG_LEVEL: 'warn',
    },
  })
  const stop = async () => {
    await process.stop()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await ready(port, process)
    const key = await signUp(port)
    return { name, port, process, adminKey, headers: { authorization: `Bearer ${key}` }, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function ready(port: number, process: NodeProcess): Promise<void> {
  const deadline = Date.now() + BOOT_MS
  while (process.running && Date.now() < deadline) {
    const health = await fetch(`${origin(port)}/health`).catch(() => undefined)
    if (health?.ok) return
    await sleep(50)
  }
  throw new Error(`the gateway was not ready within ${BOOT_MS} ms; it said:\n${process.output}`)
}

async function signUp(port: number): Promise<string> {
  const response = await fetch(`${origin(port)}/api/auth/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'bench@example.com', name: 'Bench' }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`signup answered ${response.status}: ${text}`)
  return z.object({ api_key: z.string() }).parse(JSON.parse(text)).api_key
}

const MODULES = z.object({
  modules: z.array(z.object({ name: z.string(), enabled: z.boolean() })),
  total: z.number(),
})

export interface ModuleSwitch {
  /** Modules that are on now. */
  readonly enabled: readonly string[]
  /** Modules that would not switch, with the reason given. */
  readonly refused: readonly string[]
}

/** Switches every module that is present on or off, one by one, as an operator would; undefined leaves them. */
export async function switchModules(gateway: Gateway, enabled: boolean | undefined): Promise<ModuleSwitch> {
  const refused: string[] = []
  for (const module of await listModules(gateway)) {
    if (enabled === undefined || module.enabled === enabled) continue
    const problem = await putModule(gateway, module.name, { enabled })
    if (problem) refused.push(`${module.name} (${problem})`)
  }
  const modules = await listModules(gateway)
  return { enabled: modules.filter((module) => module.enabled).map(({ name }) => name), refused }
}

/** Changes a module; the reason if the gateway refuses. */
export async function putModule(gateway: Gateway, name: string, change: object): Promise<string | undefined> {
  const response = await manage(gateway, `/api/proxy/modules/${name}`, change)
  const text = await response.text()
  return response.ok ? undefined : `${response.status}: ${text}`
}

async function listModules(gateway: Gateway) {
  const response = await manage(gateway, '/api/proxy/modules?limit=500')
  if (!response.ok)
    throw new Error(`the list of modules answered ${response.status}: ${await response.text()}`)
  return MODULES.parse(await response.json()).modules
}

function manage(gateway: Gateway, path: string, body?: unknown): Promise<Response> {
  return fetch(origin(gateway.port) + path, {
    method: body === undefined ? 'GET' : 'PUT',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}
