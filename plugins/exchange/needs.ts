import satisfies from 'semver/functions/satisfies.js'
import { type Context, conflict, kernelServices, type Registry } from '#kernel'
import { secretsOf } from './content.ts'
import type { VersionRow } from './shapes.ts'

export interface Needs {
  readonly unmet: string[]
  readonly missing_secrets: string[]
}

/** What a version needs that is not here, in words for people. */
export function needsOf(version: VersionRow, { use }: Pick<Context<unknown>, 'use'>): Needs {
  const { gateway, modules = {} } = version.requires
  const registry = use(kernelServices.registry)
  const { version: own } = use(kernelServices.runtime)
  const { secrets } = use(kernelServices.config)
  return {
    unmet: [
      ...(gateway === undefined || satisfies(own, gateway, { includePrerelease: true })
        ? []
        : [`It needs a gateway ${gateway}, and this is ${own}.`]),
      ...Object.entries(modules).flatMap(([id, range]) => unmetOf(registry, id, range)),
    ],
    missing_secrets: secretsOf(version).filter((name) => !secrets[name]),
  }
}

function unmetOf(registry: Registry, id: string, range: string): string[] {
  const version = registry.find(id)?.manifest?.version
  if (version === undefined) return [`It needs the module ${id}, which is not here.`]
  return satisfies(version, range) ? [] : [`It needs ${id} ${range}, and here is ${version}.`]
}

/** Throws a conflict that lists what is needed and is not here. */
export function demandNeeds({ unmet, missing_secrets }: Needs): void {
  const secrets = missing_secrets.map((name) => `It needs secrets.${name} in service.yaml.`)
  const all = [...unmet, ...secrets]
  if (all.length > 0) throw conflict(all.join(' '), { details: { unmet, missing_secrets } })
}

/** The permissions of the plugins that content sets. */
export function permissionsOf({ content }: VersionRow, registry: Registry): string[] {
  const ids = [
    ...Object.keys(content.modules ?? {}),
    ...Object.keys(content.plugins ?? {}),
    ...Object.keys(content.bindings ?? {}).map((id) => id.split('/')[0]!),
  ]
  return [...new Set(ids.flatMap((id) => registry.find(id)?.manifest?.permissions ?? []))].sort()
}
