import { mkdtemp, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Config } from '../../../config/config.ts'
import { effective, type SettingChange } from '../../../config/setting.ts'
import type { ProviderSpec } from '../../../contract/provider.ts'
import { packagesFolder } from '../../../gateway/discovery/installed.ts'
import { type Gateway, openGateway } from '../../../gateway/gateway.ts'
import { createLog } from '../../../gateway/log.ts'
import type { Discovered } from '../../../kernel/discovery/manifest.ts'
import { RouteTable } from '../../../plugins/upstream/directory/route-table.ts'
import { Directory } from '../../../plugins/upstream/directory.ts'
import { ProviderDirectory, ProviderProber } from '../../../plugins/upstream/kit/services.ts'
import { sections } from '../../../plugins/upstream/sections.ts'
import { unusableEntries, unusableRoutes } from '../unusable.ts'
import { type Check, failed, ok, warning } from './result.ts'

type Environment = Readonly<Record<string, string | undefined>>

interface Parts {
  readonly config: Config
  readonly configured: Readonly<Record<string, SettingChange>>
  readonly found: readonly Discovered[]
  readonly env: Environment
}

/** Which providers can be used, and whether the configuration names some that are not there. */
export async function checkProviders({ config, configured, found, env }: Parts): Promise<Check[]> {
  const { providers: entries, routes } = sections.parse(configured.upstream?.config ?? {})
  const specs = providersOf(configured, found)
  const table = new RouteTable(routes)
  const manifests = new Directory({ entries, env, specs, routes: table })
  const hasUnknownType = manifests.unusable.some((name) => manifests.find(name))
  // Code from outside may bring protocols that no manifest names: only a start finds those.
  const protocols =
    hasUnknownType && bringsProtocols({ configured, found })
      ? await startedProtocols({ config, found, env })
      : undefined
  const directory = protocols
    ? new Directory({ entries, env, specs, protocols: () => protocols, routes: table })
    : manifests
  const { unusable } = directory
  const ready = directory.providers.filter(
    ({ name, configured, spec }) => configured && !spec.fallback && !unusable.includes(name),
  )
  const names = ready.map(
    ({ name, keySource }) => `${name} (${keySource === 'none' ? 'no key needed' : keySource})`,
  )
  return [
    ready.length > 0
      ? ok('providers', names.join(', '))
      : warning('providers', 'None has a key: the built-in mock answers model calls.'),
    ...unusableEntries(directory).map((problem) => failed('providers', problem)),
    ...ready
      .filter(({ baseUrl }) => baseUrl === '')
      .map(({ name }) => failed('providers', `providers.${name}: it has no base_url.`)),
    ...unusableRoutes(directory, routes).map((problem) => failed('routes', problem)),
  ]
}

const bringsProtocols = ({ configured, found }: Pick<Parts, 'configured' | 'found'>): boolean =>
  found.some(
    ({ id, source, manifest, entry }) =>
      source !== 'builtin' &&
      entry !== undefined &&
      manifest?.permissions.includes('providers') &&
      effective(manifest, configured[id]).enabled,
  )

/** The protocols that there are after a start, by their ids. */
const startedProtocols = (parts: Pick<Parts, 'config' | 'found' | 'env'>): Promise<ReadonlySet<string>> =>
  inGateway(parts, async ({ registry }) => new Set(registry.generation.protocols.keys()))

function providersOf(
  configured: Readonly<Record<string, SettingChange>>,
  found: readonly Discovered[],
): () => ReadonlyMap<string, ProviderSpec> {
  const specs = new Map(
    found.flatMap(({ id, manifest }) =>
      manifest?.kind === 'provider' && manifest.provider && effective(manifest, configured[id]).enabled
        ? [[id, manifest.provider as ProviderSpec] as const]
        : [],
    ),
  )
  return () => specs
}

/** Really asks each provider that can be used. */
export function probeProviders(parts: Pick<Parts, 'config' | 'found' | 'env'>): Promise<Check[]> {
  return inGateway(parts, async (gateway) => {
    const prober = gateway.service(ProviderProber)!
    const ready = gateway
      .service(ProviderDirectory)!
      .providers.filter(({ configured, spec }) => configured && !spec.fallback)
    const probes = await Promise.all(ready.map((provider) => prober.check(provider)))
    return probes.map(({ provider, status, message, latencyMs }) =>
      status === 'healthy'
        ? ok(`provider ${provider}`, `${message} (${latencyMs} ms)`)
        : status === 'degraded'
          ? warning(`provider ${provider}`, message)
          : failed(`provider ${provider}`, message),
    )
  })
}

/** Asks a gateway of its own, which has the plugins that are installed, no modules, and keeps nothing. */
async function inGateway<T>(
  { config, found, env }: Pick<Parts, 'config' | 'found' | 'env'>,
  ask: (gateway: Gateway) => Promise<T>,
): Promise<T> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-doctor-'))
  const modules = found.flatMap(({ id, manifest }) =>
    manifest?.kind === 'module' ? [[id, { enabled: false }]] : [],
  )
  const { tokenizers: _, ...rest } = config.sections
  const apart = {
    ...config,
    modules: Object.fromEntries(modules),
    sections: rest,
    dataDir,
    host: '127.0.0.1',
    port: 0,
    server: { ...config.server, threads: 1 },
  }
  try {
    if (await stat(packagesFolder(config.dataDir)).catch(() => undefined))
      await symlink(path.resolve(packagesFolder(config.dataDir)), packagesFolder(dataDir))
    const gateway = await openGateway({ config: apart, env, log: createLog({ level: 'silent' }) })
    try {
      return await ask(gateway)
    } finally {
      await gateway.close()
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}
