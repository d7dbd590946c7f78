import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { stringify } from 'yaml'
import { tidyPackages } from '../bin/cli/packages/upkeep.ts'
import { loadConfig } from '../config/config.ts'
import { openGateway } from '../gateway/gateway.ts'
import { createLog } from '../gateway/log.ts'
import type { Kernel } from '../kernel/boot.ts'
import { dropIn } from './plugin-dirs.ts'
import type { Upstream } from './upstream/index.ts'

/** A gateway of a test: in this process, on a port of its own, with a store of its own. */
export interface GatewayUnderTest {
  readonly url: string
  readonly adminKey: string
  readonly dataDir: string
  /** Lines that were logged. */
  readonly logged: string[]
  /** A management request with the admin key; returns the parsed body and the status. */
  api(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
    // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  ): Promise<{ status: number; body: any; headers: Headers }>
  /** A new user and its key. */
  signUp(name?: string): Promise<{ userId: string; key: string }>
  /** Toggles or reconfigures a module; throws when that is refused. */
  module(name: string, change: Record<string, unknown>): Promise<void>
  close(): Promise<void>
}

/** The same, for tests that look inside. */
export interface TestGateway extends GatewayUnderTest {
  readonly kernel: Kernel
}

export interface GatewayOptions {
  /** Contents of service.yaml. */
  readonly config?: Record<string, unknown>
  /** Stands in for the provider `openai`, with its key; the usual case. */
  readonly upstream?: Upstream
  readonly env?: Record<string, string>
  /** A data folder to use, and to leave in place. */
  readonly dataDir?: string
  /** Holds the gateway's own modules to what they are handed, too, as the conformance kit does. */
  readonly freezeAll?: boolean
  /** Folders of plugins that the gateway is to know beside its own. */
  readonly plugins?: readonly string[]
}

export const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'

/** Boots the real kernel with real storage; close it when done. */
export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-test-'))
  const dataDir = options.dataDir ?? path.join(folder, 'data')
  const providers = options.upstream
    ? { openai: { base_url: options.upstream.baseUrl(), api_key: 'sk-test' } }
    : {}
  const settings = {
    auth: { admin_rpm: 1_000_000, failed_keys_per_minute: 0, signup_per_hour: 0 },
    ...options.config,
    ...(options.plugins && { plugin_dirs: await dropIn(options.plugins, folder) }),
    providers: { ...providers, ...(options.config?.providers as object | undefined) },
  }
  const file = path.join(folder, 'service.yaml')
  await writeFile(file, stringify(settings))
  const env = {
    SERVICE_CONFIG: file,
    SERVICE_PORT: '0',
    SERVICE_DATA_DIR: dataDir,
    SERVICE_ADMIN_KEY: adminKey,
    // So that tests of all modules can switch that one on, too.
    SERVICE_ALLOW_CHAOS: '1',
    ...options.env,
  }
  const logged: string[] = []
  const log = createLog({ level: 'info', stream: { write: (line: string) => void logged.push(line) } })
  const kernel = await openGateway({
    config: loadConfig({ env, cwd: folder }),
    env,
    log,
    upkeep: (found, pluginData) => tidyPackages(dataDir, found, pluginData),
    ...(options.freezeAll !== undefined && { freezeAll: options.freezeAll }),
  })

  const api: TestGateway['api'] = async (method, at, body, key = adminKey) => {
    const response = await fetch(kernel.url + at, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      body: text === '' ? undefined : JSON.parse(text),
      headers: response.headers,
    }
  }
  return {
    url: kernel.url,
    kernel,
    adminKey,
    dataDir,
    logged,
    api,
    async signUp(name = 'tester') {
      const { body } = await api('POST', '/api/auth/signup', { email: `${name}@example.com`, name })
      return { userId: body.user_id, key: body.api_key }
    },
    async module(name, change) {
      const { status, body } = await api('PUT', `/api/proxy/modules/${name}`, change)
      if (status !== 200) throw new Error(`${name}: ${JSON.stringify(body)}`)
    },
    async close() {
      await kernel.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
