import { rm } from 'node:fs/promises'
import { afterAll } from 'vitest'
import type { DiskData } from '../gateway/disk-data.ts'
import type { Reloader } from '../kernel/plugin/reloader.ts'
import { kernelServices } from '../kernel/services.ts'
import { type Dropin, writeDropin, writeDropins } from './dropins.ts'
import { startGateway, type TestGateway } from './harness.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

/** Where a module runs. */
export const places = ['inproc', 'worker'] as const
export type Place = (typeof places)[number]

/** A gateway with one module of a test, called `far`. */
export interface Isolated {
  readonly gateway: TestGateway
  readonly upstream: Upstream
  /** Makes a model call; fields of the body as given. */
  call(body?: object, init?: RequestInit): Promise<Response>
  /** The module as the management API shows it. */
  shown(): Promise<Record<string, unknown>>
  /** What the module reported: kind and detail, oldest first. */
  reported(): Promise<[kind: string, detail: string][]>
  traceOf(response: Response): Promise<Record<string, unknown>>
  close(): Promise<void>
}

interface Shared {
  readonly gateway: TestGateway
  readonly upstream: Upstream
  readonly folder: string
  close(): Promise<void>
}

/**
 * Has the tests of a file share gateways, one for each configuration. What it returns puts a module into one, with the body of
 * its `setup(ctx)`, in this place; to close that takes the module out again, with all that it has left.
 */
export function shareGateways() {
  const shared = new Map<string, Promise<Shared>>()
  afterAll(async () => {
    for (const one of shared.values()) await (await one).close()
  })
  return async (
    place: Place,
    setup: string,
    manifest: Dropin['manifest'] = {},
    config: object = {},
  ): Promise<Isolated> => {
    const key = JSON.stringify(config)
    const known = shared.get(key) ?? startShared(config)
    shared.set(key, known)
    return putIn(await known, setup, { isolation: place, ...manifest })
  }
}

async function startShared(config: object): Promise<Shared> {
  const dropins = await writeDropins({})
  const upstream = await startUpstream()
  const gateway = await startGateway({
    upstream,
    config: {
      plugin_dirs: [dropins.folder],
      workers: { hang: '400ms', memory: '64mb' },
      module_circuit: { open: '1h', timeout: '5s' },
      ...config,
    },
  })
  return {
    gateway,
    upstream,
    folder: dropins.folder,
    async close() {
      await gateway.close()
      await upstream.close()
      await dropins.remove()
    },
  }
}

async function putIn(
  { gateway, upstream, folder }: Shared,
  setup: string,
  manifest: Dropin['manifest'],
): Promise<Isolated> {
  const { container } = gateway.kernel
  const look = () => container.resolve<Reloader>(kernelServices.reloader).rescan(new Set(['far']))
  const written = await writeDropin(folder, 'far', { setup, ...(manifest && { manifest }) })
  await look()
  return {
    gateway,
    upstream,
    call: (body = {}, init = {}) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }], ...body }),
        ...init,
      }),
    shown: async () => (await gateway.api('GET', '/api/proxy/modules/far')).body,
    async reported() {
      const { body } = await gateway.api('GET', '/api/proxy/modules/far/events')
      return body.events
        .map(({ kind, detail }: { kind: string; detail: string }) => [kind, detail])
        .toReversed()
    },
    async traceOf(response) {
      const { body } = await gateway.api('GET', `/api/observe/traces/${response.headers.get('x-trace-id')}`)
      return body
    },
    async close() {
      await rm(written, { recursive: true })
      await look()
      const remains = container.resolve<DiskData>(kernelServices.pluginData)
      await remains.forget('far')
      await remains.erase('far')
      upstream.reset()
      gateway.logged.length = 0
    },
  }
}

/** The text of a plain answer. */
export async function textOf(response: Response): Promise<unknown> {
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
  return choices[0]?.message.content
}

/** The text of a stream. */
export function contentOf(text: string): string {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)).choices[0]?.delta?.content ?? '')
    .join('')
}
