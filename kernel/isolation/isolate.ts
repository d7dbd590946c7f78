import { z } from 'zod'
import type { ChainHooks } from '../chain/batches.ts'
import { type ContextParts, contextOf, type Instance } from '../plugin/instance.ts'
import type { ModuleManifest } from '../plugin/manifest.ts'
import { noOutbound } from '../plugin/outbound.ts'
import { grantsOf } from '../plugin/permissions.ts'
import type { Plugin } from '../plugin/plugin-record.ts'
import { describeInWorker } from './describe.ts'
import type { GuestData } from './messages.ts'
import { remoteHooks } from './remote-hooks.ts'
import { RemoteModule } from './remote-module.ts'
import { defaultWorkerLimits } from './worker-host.ts'

/** Where a plugin runs: what the operator says, else its manifest. Areas and providers run in the process. */
export function isolationOf({ manifest, setting }: Plugin): 'inproc' | 'worker' {
  return manifest?.kind === 'module' ? (setting?.isolation ?? manifest.isolation) : 'inproc'
}

/** Sets a module up in a worker of its own, which the instance owns. */
export async function setUpInWorker(
  plugin: Plugin,
  instance: Instance,
  parts: ContextParts,
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
    limits: { ...defaultWorkerLimits, ...parts.workers, ...(parts.setupMs && { start: parts.setupMs }) },
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

/** The settings that a module takes, learnt without running its code here. */
export async function describedSettings(plugin: Plugin): Promise<z.ZodType> {
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
