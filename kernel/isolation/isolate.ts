import { z } from 'zod'
import type { ChainHooks } from '../chain/batches.ts'
import { noOutbound } from '../permissions/outbound.ts'
import { grantsOf } from '../permissions/permissions.ts'
import { type ContextParts, contextOf, type Instance } from '../plugin/instance.ts'
import type { Isolation } from '../plugin/isolation.ts'
import type { ModuleManifest } from '../plugin/manifest.ts'
import type { Plugin } from '../plugin/plugin-record.ts'
import { describeInWorker } from './describe.ts'
import type { GuestData } from './messages.ts'
import { remoteHooks } from './remote-hooks.ts'
import { RemoteModule } from './remote-module.ts'
import { defaultWorkerLimits, type WorkerLimits } from './worker-host.ts'

type Limits = Omit<WorkerLimits, 'start'>

/** Runs modules in workers with these bounds. */
export const isolationIn = (limits: Partial<Limits>): Isolation => ({
  describe: describedSettings,
  setUp: (plugin, instance, parts) => setUpInWorker(plugin, instance, parts, limits),
})

async function setUpInWorker(
  plugin: Plugin,
  instance: Instance,
  parts: ContextParts,
  bounds: Partial<Limits>,
): Promise<ChainHooks> {
  const manifest = plugin.manifest!
  const { memory, meter } = plugin
  const context = contextOf(parts, manifest, instance, plugin.setting!.config, memory, meter)
  await memory.recall()
  const { secrets, egress } = parts.outbound ?? noOutbound()
  const grants = grantsOf(manifest.permissions)
  const granted = Object.entries(secrets).filter(([name]) => grants.secrets.has(name))
  const { failure } = manifest as ModuleManifest
  const module = new RemoteModule(context, grants, meter, {
    failure,
    limits: { ...defaultWorkerLimits, ...bounds, ...(parts.setupMs && { start: parts.setupMs }) },
    data: () => ({
      ...guestOf(plugin),
      config: plugin.setting!.config,
      memory: memory.values,
      secrets: Object.fromEntries(granted),
      egressAllow: egress.allow,
      isFirst: parts.relay?.isFirst ?? true,
      isOnly: parts.relay?.isOnly ?? true,
    }),
  })
  const remember = (): ReturnType<RemoteModule['remembered']> => module.remembered()
  context.own(async () => memory.returned(remember, await module.close()))
  const shape = await module.start()
  memory.source = remember
  return remoteHooks(module, shape)
}

async function describedSettings(plugin: Plugin): Promise<z.ZodType> {
  const schema = await describeInWorker(guestOf(plugin))
  if (!schema) return z.record(z.string(), z.unknown())
  const settings = z.fromJSONSchema(schema)
  settings._zod.toJSONSchema = () => schema
  return settings
}

function guestOf({ id, manifest, found }: Plugin): GuestData {
  const { stage, failure } = manifest as ModuleManifest
  const { permissions } = manifest!
  const nothing = { config: undefined, memory: {}, secrets: {}, egressAllow: [], isFirst: true, isOnly: true }
  const { root, lookups } = found.staged ?? {}
  const staged = root !== undefined && lookups ? { root, lookups } : undefined
  return { ...nothing, entry: found.entry!, staged, id, stage, failure, permissions }
}
