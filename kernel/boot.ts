import 'reflect-metadata'
import { type DependencyContainer, container as globalContainer } from 'tsyringe'
import type { Accounts } from '../accounts/accounts.ts'
import { type Config, ConfigError } from '../config/config.ts'
import { storedSetting } from '../config/setting.ts'
import { IpRanges } from '../kit/http/ip-ranges.ts'
import { Cohort } from '../kit/work/cohort.ts'
import { Scope } from '../kit/work/scope.ts'
import type { Engine } from '../storage/index.ts'
import type { Personal } from './contract/personal-data.ts'
import type { Secrets } from './contract/secrets.ts'
import type { Discovered } from './discovery/manifest.ts'
import { Outbox } from './events/outbox.ts'
import { ownEvents } from './events/own.ts'
import { Events } from './events.ts'
import { bodyRoom } from './http/body.ts'
import { Callers } from './http/caller.ts'
import { FailedKeys } from './http/failed-keys.ts'
import { createManagement } from './http/management.ts'
import { HttpServer } from './http/server.ts'
import type { Network } from './permissions/outbound.ts'
import type { NumberedNews } from './plugin/change.ts'
import type { Journal } from './plugin/journal.ts'
import { storeOfPlugins } from './plugin/plugin-record.ts'
import { Registry } from './plugin/registry.ts'
import type { Relay } from './plugin/relay.ts'
import type { Reloader } from './plugin/reloader.ts'
import type { Shadow } from './plugin/shadow.ts'
import { Queues } from './queues.ts'
import { Refusals } from './refusals.ts'
import { kernelServices, type PluginData, type StoreState } from './services.ts'
import { type FirstKernel, type FurtherThread, type OtherThreads, threadAlone } from './threads/threads.ts'
import type { Token } from './token.ts'

/** How long calls may go on with a generation that was replaced. */
const retireMs = 30 * 60_000

/** A running gateway. */
export interface Kernel {
  readonly url: string
  readonly registry: Registry
  readonly events: Events
  readonly container: DependencyContainer
  /** The service that a plugin offers; undefined while none does. */
  service<T>(token: Token<T>): T | undefined
  /** Drains: running calls may end, data is flushed, everything is given back. */
  close(): Promise<void>
}

type Given = ConstructorParameters<typeof Registry>[0]

export interface BootOptions extends Pick<Given, 'configured' | 'isolation' | 'log'> {
  readonly config: Config
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of the gateway. */
  readonly version: string
  readonly secrets: Secrets
  /** The store, which the kernel leaves open. */
  readonly engine: Engine
  readonly accounts: Accounts
  readonly storeState: StoreState
  /** Makes what finds plugins that come, change or go. */
  readonly reloader: (registry: Registry) => Reloader
  /** The plugins that were found first. */
  readonly found: readonly Discovered[]
  readonly pluginData: PluginData
  /** The first thread's alone. */
  readonly journal: Journal | undefined
  /** Makes what asks plugins about the data of persons that they keep. */
  readonly personal: (registry: Registry) => Personal
  /** Whether the gateway's own modules, too, are handed what they cannot write into; with `plugins.watch` they are. */
  readonly freezeAll?: boolean | undefined
  readonly network: Network
  /** Runs modules that are in shadow. */
  readonly shadow: Shadow
  /** The way to the first thread. */
  readonly relay: Relay
  /** Makes the further threads, for the first of several. */
  readonly others?: ((kernel: FirstKernel) => OtherThreads) | undefined
  /** Of a further thread, which answers model calls and forwards the rest. */
  readonly thread?: FurtherThread | undefined
}

/** Each step owns what it opens; when one fails, the steps before it are undone in reverse. */
export async function boot(options: BootOptions): Promise<Kernel> {
  const { config, configured, isolation, log, engine, accounts, relay, thread, pluginData } = options
  const freezeAll = options.freezeAll ?? config.plugins.watch
  const scope = new Scope('kernel')
  try {
    const store = engine.namespace('kernel')
    const onError = (error: unknown, event: string) => log.error({ err: error, event }, 'a listener failed')
    const outbox = new Outbox(store)
    const misused = (err: Error, event: string) =>
      log.error({ err, event }, 'a plugin emitted what it may not')
    const events = new Events({ failed: onError, misused, onward: thread?.onward, outbox, strict: freezeAll })
    for (const type of ownEvents) events.declare(type, 'gateway')
    // Of this boot alone, so that two gateways in one process share nothing.
    const container = globalContainer.createChildContainer()
    scope.own(() => container.dispose())
    const cohort = new Cohort()
    const runtime = {
      version: options.version,
      startedAt: thread?.startedAt ?? Date.now(),
      thread: thread?.number ?? 1,
      isDraining: false,
    }
    const queues = new Queues()
    const pool = options.others?.({ events, queues, startedAt: runtime.startedAt, registry: () => registry })
    const registry: Registry = new Registry({
      container,
      events,
      log,
      store: engine.namespace(storeOfPlugins),
      settings: store.collection('settings', { schema: storedSetting }),
      configured,
      circuit: config.moduleCircuit,
      setupMs: config.plugins.setupTimeout,
      outbound: { network: options.network, secrets: config.secrets },
      isolation,
      shadow: options.shadow,
      retireMs,
      relay,
      journal: options.journal,
      freezeAll,
      ...(pool && { announce: (news: NumberedNews) => pool.tell(news) }),
    })
    if (thread) registry.expect(thread.generation)
    const reloader = options.reloader(registry)
    const refusals = new Refusals()
    const services = {
      accounts,
      cohort,
      config,
      environment: options.env,
      events: events.catalogue,
      files: pluginData,
      personal: options.personal(registry),
      queues,
      refusals,
      registry,
      reloader,
      pluginData,
      runtime,
      secrets: options.secrets,
      storage: engine,
      storeState: options.storeState,
      threads: pool?.all ?? threadAlone(queues),
    }
    for (const [name, useValue] of Object.entries(services))
      container.register(kernelServices[name as keyof typeof services], { useValue })

    scope.own(() => registry.close())
    scope.own(() => reloader.close())
    await registry.start(options.found)
    await reloader.settle()
    const wrong = registry.verify()
    if (wrong.length > 0) throw new ConfigError(wrong)
    if (!thread) {
      await outbox.open((occurrence) => events.tell(occurrence))
      scope.own(() => outbox.close())
    }

    const failed = new FailedKeys({ limit: config.auth.failedKeysPerMinute, relay, refusals, log })
    const edge = {
      callers: new Callers(accounts, failed),
      events,
      log,
      generation: () => registry.generation,
      trustedProxies: new IpRanges(config.server.trustedProxies),
    }
    const { bodyDepth: depth, bodyNodes: nodes, bodyMemory } = config.server
    const bounds = { depth, nodes, room: bodyRoom(bodyMemory) }
    const management = thread
      ? thread.forward
      : createManagement({
          ...edge,
          plugin: (id) => registry.find(id),
          corsOrigins: config.server.corsOrigins,
          bodyLimits: { ...bounds, bytes: config.server.bodyLimit },
          adminRpm: config.auth.adminRpm,
        }).callback()
    const server = new HttpServer({
      ...edge,
      management,
      cohort,
      bodyLimits: { ...bounds, bytes: config.server.proxyBodyLimit },
      adminProxy: config.auth.adminProxy,
      requestTimeout: config.server.requestTimeout,
    })
    const address = await server.listen(thread?.port ?? config.port, config.host, config.server.threads > 1)
    scope.own(() => {
      runtime.isDraining = true
      return Promise.all([pool?.close(), server.close(config)])
    })
    await pool?.start(address.port, server)
    const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
    return {
      url: `http://${host}:${address.port}`,
      registry,
      events,
      container,
      service: (token) => registry.generation.services.get(token) as never,
      close: () => scope.dispose(),
    }
  } catch (error) {
    await scope.dispose().catch(() => {})
    throw error
  }
}
