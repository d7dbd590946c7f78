import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CallSettled } from '../../../../kernel/call/outcome.ts'
import type { Trace } from '../../../../kernel/call/trace.ts'
import { withPlace } from '../../../../kernel/discovery/loader.ts'
import { explain } from '../../../../kit/explain.ts'
import { ask } from '../../../../test/ask.ts'
import { bareChain } from '../../../../test/bare.ts'
import { callsTo, type Mode } from '../../../../test/conformance/example.ts'
import { startGateway, type TestGateway } from '../../../../test/harness.ts'
import { linkIn } from '../../../../test/plugin-dirs.ts'
import type { Upstream } from '../../../../test/upstream/index.ts'
import type { Sample } from './sample.ts'

/** The result of one call. */
export interface Tried {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
  /** The last request that reached the provider; undefined when there was none. */
  readonly sent: unknown
  /** Undefined for calls that ended before they were any. */
  readonly trace: Trace | undefined
  /** What the plugin's hooks threw, and where. */
  readonly failures: readonly string[]
}

/** How long a trace may come after its answer, in milliseconds. */
const traceMs = 1_000

/** A gateway with a mock provider, every module off, and with or without the plugin of a folder, whose files it follows. */
export class TriedGateway {
  readonly #gateway: TestGateway
  readonly #upstream: Upstream
  readonly #folder: string
  readonly #id: string | undefined
  #thrown: { readonly hook: string; readonly error: unknown }[] = []

  static async start(upstream: Upstream, plugin?: string, isProvider = false): Promise<TriedGateway> {
    const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-dev-'))
    const linked = plugin === undefined ? undefined : await linkIn(plugin, path.join(folder, 'plugins'))
    const entry = { base_url: upstream.baseUrl(), api_key: 'sk-test' }
    const gateway = await startGateway({
      upstream,
      config: {
        ...(linked && { plugin_dirs: [linked.dir] }),
        ...(linked && isProvider && { providers: { [linked.id]: entry } }),
      },
    })
    await bareChain(gateway)
    return new TriedGateway(gateway, upstream, folder, linked?.id)
  }

  private constructor(gateway: TestGateway, upstream: Upstream, folder: string, id: string | undefined) {
    this.#gateway = gateway
    this.#upstream = upstream
    this.#folder = folder
    this.#id = id
  }

  /** Takes in what lies in the folder now, and sees to it that it runs; resolves with what keeps it from that. */
  async load(requires: readonly string[]): Promise<string | undefined> {
    const { api } = this.#gateway
    const id = this.#id!
    const { body } = await api('POST', '/api/plugins/rescan')
    const failed = (body.failed as { name: string; problem: string }[]).find(({ name }) => name === id)
    if (failed) return failed.problem
    for (const other of requires) await api('PUT', `/api/plugins/${other}`, { enabled: true })
    const set = await api('PUT', `/api/plugins/${id}`, { enabled: true })
    if (set.status >= 400) return set.body.error.message
    return set.body.state === 'active' ? undefined : (set.body.problem ?? set.body.state)
  }

  /** Gives the plugin these settings and no others; resolves with what keeps it from taking them. */
  async configure(config: Record<string, unknown>): Promise<string | undefined> {
    const { api } = this.#gateway
    const at = `/api/plugins/${this.#id}`
    const had = Object.keys((await api('GET', at)).body.config ?? {})
    const cleared = Object.fromEntries(had.map((name) => [name, null]))
    const { status, body } = await api('PUT', at, { config: { ...cleared, ...config } })
    return status >= 400 ? (body.error.message as string) : undefined
  }

  async ask(sample: Sample, mode: Mode): Promise<Tried> {
    const { registry } = this.#gateway.kernel
    const plugin = this.#id === undefined ? undefined : registry.find(this.#id)
    this.#thrown = []
    if (plugin) plugin.meter.onFailure = (hook, error) => void this.#thrown.push({ hook, error })
    this.#upstream.reset()
    for (const script of sample.scripts) this.#upstream.reply(script)
    const settled = Promise.withResolvers<Trace>()
    const leave = this.#gateway.kernel.events.on(CallSettled, ({ call }) => settled.resolve(call.trace))
    try {
      const { path, headers } = sample
      const answer = await ask(this.#gateway, { path, headers, body: sample.body(mode) })
      const trace = await Promise.race([settled.promise, sleep(answer.status < 400 ? traceMs : traceMs / 10)])
      const failures = this.#thrown.map(async ({ hook, error }) => {
        const told = plugin?.found.entry ? await withPlace(error, plugin.found.entry) : error
        return `${hook}: ${explain(told)}`
      })
      return {
        ...answer,
        sent: callsTo(this.#upstream).at(-1)?.body,
        trace: trace ?? undefined,
        failures: await Promise.all(failures),
      }
    } finally {
      leave()
    }
  }

  /** What the plugin's routes answer that can be asked without knowing more. */
  async routes(): Promise<{ route: string; status: number; body: unknown }[]> {
    const { generation } = this.#gateway.kernel.registry
    const own = generation.routes.filter(
      ({ plugin, method, path, returns }) =>
        plugin === this.#id && method === 'get' && !path.includes('{') && returns !== 'events',
    )
    return Promise.all(
      own.map(async ({ path }) => {
        const response = await fetch(this.#gateway.url + path, {
          headers: { authorization: `Bearer ${this.#gateway.adminKey}` },
        })
        const text = await response.text()
        return { route: `GET ${path}`, status: response.status, body: json(text) }
      }),
    )
  }

  async close(): Promise<void> {
    await this.#gateway.close()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
