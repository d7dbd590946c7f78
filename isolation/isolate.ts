import { getCompileCacheDir } from 'node:module'
import path from 'node:path'
import { z } from 'zod'
import type { ModuleManifest } from '../kernel/discovery/manifest.ts'
import { grantsOf } from '../kernel/permissions/permissions.ts'
import { contextOf } from '../kernel/plugin/context.ts'
import type { Isolation } from '../kernel/plugin/isolation.ts'
import type { Plugin } from '../kernel/plugin/plugin-record.ts'
import type { Methods, RpcPort } from '../storage/shared/rpc-port.ts'
import { SupervisedWorker } from '../workers/supervised-worker.ts'
import type { GuestData, GuestMethods, Remembered } from './protocol.ts'
import { remoteHooks } from './remote-hooks.ts'
import { RemoteModule, rpc, type WorkerStart } from './remote-module.ts'

/** Bounds of a worker. */
interface WorkerLimits {
  /** Bytes of JavaScript objects; a worker that needs more is ended. */
  readonly memory: number
  /** Milliseconds without a sign of life while something is asked of it, until it is ended. */
  readonly hang: number
}

/** Milliseconds until a worker is set up, unless the configuration says otherwise. */
const defaultStartMs = 30_000

/** Runs modules in workers within these bounds. `egressAllow` is what the configuration lets them reach beside the public internet. */
export function isolateWithin(limits: WorkerLimits, egressAllow: readonly string[]): Isolation {
  const startOf = ({ id, found, manifest }: Plugin, startMs = defaultStartMs): WorkerStart => {
    const { root, lookups } = found.staged ?? {}
    const staged = root !== undefined && lookups ? { root, lookups } : undefined
    const data: GuestData = { entry: found.entry!, staged, id, manifest: manifest as ModuleManifest }
    return {
      entry: ['./guest', import.meta.url],
      name: id,
      data: () => ({ value: data }),
      env: compileCache(),
      execArgv: [],
      limits: { startMs, hangMs: limits.hang, heapMb: Math.ceil(limits.memory / 2 ** 20) },
    }
  }

  /** Starts a worker only to ask it one thing. */
  const ask = async <T>(
    plugin: Plugin,
    begin: (guest: RpcPort<GuestMethods, Methods>) => Promise<T>,
  ): Promise<T> => {
    const options = { ...startOf(plugin), methods: {}, rpc, begin }
    const worker = new SupervisedWorker<GuestMethods, Methods, T>(options)
    try {
      return await worker.start()
    } finally {
      await worker.end('it is no longer needed')
    }
  }

  return {
    async describe(plugin) {
      const schema = await ask(plugin, (guest) => guest.call('describe', undefined))
      if (!schema) return z.record(z.string(), z.unknown())
      const settings = z.fromJSONSchema(schema)
      settings._zod.toJSONSchema = () => schema
      return settings
    },

    migrate: (plugin, older) => ask(plugin, (guest) => guest.call('migrate', older)),

    async setUp(plugin, instance, parts) {
      const manifest = plugin.manifest as ModuleManifest
      const { memory, meter } = plugin
      const { config } = plugin.setting!
      const context = contextOf(parts, plugin, instance, config)
      await memory.recall()
      const { reads, secrets } = grantsOf(manifest.permissions)
      const granted = Object.entries(parts.outbound.secrets).filter(([name]) => secrets.has(name))
      const module = new RemoteModule(context, meter, {
        start: startOf(plugin, parts.setupMs),
        failure: manifest.failure,
        reads,
        given: () => ({
          config,
          mode: instance.mode,
          memory: memory.values,
          secrets: Object.fromEntries(granted),
          egressAllow,
          isFirst: parts.relay?.isFirst ?? true,
          isOnly: parts.relay?.isOnly ?? true,
        }),
      })
      const { worker, calls } = module
      const remember = (): Promise<Remembered> =>
        worker.start().then(() => worker.call('remember', undefined))
      context.own(() => memory.returned(remember, module.close()))
      const shape = await worker.start()
      calls.settles = shape.hooks.includes('settled')
      memory.source = remember
      return remoteHooks(module, shape)
    },
  }
}

/** Nothing of our environment but where compiled code is kept, if that is anywhere: the runtime reads it as it begins. */
function compileCache(): NodeJS.ProcessEnv {
  const inUse = getCompileCacheDir()
  return inUse === undefined ? {} : { NODE_COMPILE_CACHE: path.dirname(inUse) }
}
