import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Config } from '../../../config/config.ts'
import type { ProviderSpec } from '../../../contract/provider.ts'
import { openGateway } from '../../../gateway/gateway.ts'
import { createLog } from '../../../gateway/log.ts'
import type { Discovered } from '../../../kernel/discovery/manifest.ts'
import { effective, type SettingChange } from '../../../kernel/plugin/setting.ts'
import { RouteTable } from '../../../plugins/upstream/directory/route-table.ts'
import { Directory } from '../../../plugins/upstream/directory.ts'
import { ProviderDirectory, ProviderProber } from '../../../plugins/upstream/kit/services.ts'
import { sections } from '../../../plugins/upstream/sections.ts'
import { unusableEntries } from '../unusable.ts'
import { type Check, failed, ok, warning } from './result.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Which providers can be used, and whether the configuration names some that are not there. */
export function checkProviders(
  configured: Readonly<Record<string, SettingChange>>,
  found: readonly Discovered[],
  env: Environment,
): Check[] {
  const { providers: entries, routes } = sections.parse(configured.upstream?.config ?? {})
  const directory = new Directory({
    entries,
    env,
    specs: providersOf(configured, found),
    // Code from outside may bring protocols that no manifest names: only a start finds those.
    ...(bringsCode(found) && { protocols: () => ({ has: () => true }) }),
    routes: new RouteTable(routes),
  })
  const { unusable } = directory
  const ready = directory.providers.filter(
    ({ name, configured, spec }) => configured && !spec.fallback && !unusable.includes(name),
  )
  const names = ready.map(
    ({ name, keySource }) => `${name} (${keySource === 'none' ? 'no key needed' : keySource})`,
  )
  const unknown = routes.filter(({ provider }) => !directory.find(provider))
  return [
    ready.length > 0
      ? ok('providers', names.join(', '))
      : warning('providers', 'None has a key: the built-in mock answers model calls.'),
    ...unusableEntries(directory).map((problem) => failed('providers', problem)),
    ...ready
      .filter(({ baseUrl }) => baseUrl === '')
      .map(({ name }) => failed('providers', `providers.${name}: it has no base_url.`)),
    ...unknown.map(({ match, provider }) =>
      failed('routes', `The route for ${match} leads to ${provider}, which is no known provider.`),
    ),
  ]
}

const bringsCode = (found: readonly Discovered[]): boolean =>
  found.some(
    ({ source, manifest, entry }) =>
      source !== 'builtin' && manifest?.kind !== 'module' && entry !== undefined,
  )

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

/** Really asks each provider that can be used, from a gateway of its own that has no modules and keeps nothing. */
export async function probeProviders(
  config: Config,
  found: readonly Discovered[],
  env: Environment,
): Promise<Check[]> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-doctor-'))
  const modules = found.flatMap(({ id, manifest }) =>
    manifest?.kind === 'module' ? [[id, { enabled: false }]] : [],
  )
  const { tokenizers: _, ...rest } = config.sections
  const nothing = { modules: Object.fromEntries(modules), sections: rest }
  const apart = {
    ...config,
    ...nothing,
    dataDir,
    host: '127.0.0.1',
    port: 0,
    server: { ...config.server, threads: 1 },
  }
  const kernel = await openGateway({ config: apart, env, log: createLog({ level: 'silent' }) })
  try {
    const prober = kernel.service(ProviderProber)!
    const ready = kernel
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
  } finally {
    await kernel.close()
    await rm(dataDir, { recursive: true, force: true })
  }
}
