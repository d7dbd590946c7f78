import { HookFault } from '../../kit/work/hook-fault.ts'

/** The permissions of a plugin, read from its manifest. */
export interface Grants {
  has(permission: 'routes' | 'providers' | 'store' | 'calls' | 'targets'): boolean
  /** Permissions `service:<name>` for services that not every plugin may use. */
  readonly services: ReadonlySet<string>
  /** Hosts it may reach; `*.` stands for subdomains, `*` for all. */
  readonly hosts: readonly string[]
  readonly secrets: ReadonlySet<string>
  /** The most that its model calls may cost a day; undefined when it may make none. */
  readonly usdPerDay: number | undefined
  /** Whether it may read the texts of calls, and change them. Permission to change includes permission to read. */
  readonly reads: boolean
  readonly writes: boolean
}

export function grantsOf(permissions: readonly string[]): Grants {
  const after = (prefix: string): string[] =>
    permissions.flatMap((text) => (text.startsWith(prefix) ? [text.slice(prefix.length)] : []))
  const usd = after('models:')
  const writes = permissions.includes('body:write')
  return {
    has: (name) => permissions.includes(name),
    services: new Set(permissions.filter((text) => text.startsWith('service:'))),
    hosts: after('network:'),
    secrets: new Set(after('secrets:')),
    usdPerDay: usd.length > 0 ? Math.max(...usd.map(Number)) : undefined,
    reads: writes || permissions.includes('body:read'),
    writes,
  }
}

/** A plugin did what its manifest does not ask for. */
export const denied = (plugin: string, does: string, lacks: string): HookFault =>
  new HookFault(
    `${plugin} ${does} without the permission "${lacks}": it must stand under "permissions" in its manifest`,
  )
