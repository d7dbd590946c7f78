import type { z } from 'zod'
import type { ChainHooks } from '../chain/batches.ts'
import type { ContextParts } from './context.ts'
import type { Instance } from './instance.ts'
import type { Plugin } from './plugin-record.ts'

/** Settings that another version of a module stored. */
export interface OlderSettings {
  readonly settings: Readonly<Record<string, unknown>>
  readonly from: string
}

/** The settings that a module's `migrate` returned. */
export interface Migrated {
  readonly settings: unknown
}

/** Runs modules in workers of their own. The gateway hands it in: the kernel does not know how a worker is run. */
export interface Isolation {
  /** Learns the settings that a module takes, without running its code in this thread. */
  describe(plugin: Plugin): Promise<z.ZodType>
  /** Has a module carry settings over; undefined when it has no `migrate`. */
  migrate(plugin: Plugin, older: OlderSettings): Promise<Migrated | undefined>
  /** Sets a module up in a worker, which the instance owns. Resolves with hooks that lead there. */
  setUp(plugin: Plugin, instance: Instance, parts: ContextParts): Promise<ChainHooks>
}

/** Where a plugin runs: what the operator says, else its manifest. Areas and providers run in the process. */
export function isolationOf({ manifest, setting }: Plugin): 'inproc' | 'worker' {
  return manifest?.kind === 'module' ? (setting?.isolation ?? manifest.isolation) : 'inproc'
}
