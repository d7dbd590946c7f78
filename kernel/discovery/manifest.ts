import type { Staged } from '../../staging/stage.ts'
import type { findingTypes } from '../call/findings.ts'
import type { Stage } from '../chain/hooks.ts'
import type { ProviderSpec } from '../contract/provider.ts'

export const idPattern = /^[a-z][a-z0-9-]{0,63}$/

/** Version of the contract that plugins are written against. */
export const apiVersion = '3.140.0'

interface Shared {
  readonly id: string
  readonly version: string
  /** Range of contract versions it runs with. */
  readonly api: string
  readonly title: string
  readonly description: string
  /** Plugins that must be active first. */
  readonly requires: readonly string[]
  /** Names of the services it offers to others, for people to read. */
  readonly provides: readonly string[]
  /** Whether it runs by default. */
  readonly enabled: boolean
  /** For the services of the context, and for the data that hooks see and change beyond the parameters of calls. */
  readonly permissions: readonly string[]
}

interface Sectioned {
  /** Keys of service.yaml that are this plugin's own: what stands there is the input of its settings. */
  readonly sections: readonly string[]
}

interface Placed {
  /** Plugins of the same stage that run inside (`before`) or outside (`after`) of it. */
  readonly before: readonly string[]
  readonly after: readonly string[]
  /** The failure policy: whether a call passes or is refused when the module itself fails. */
  readonly failure: 'open' | 'closed'
  /** The type of what its detections find, for traces; `custom` without it. */
  readonly finds?: (typeof findingTypes)[number] | undefined
}

export interface ModuleManifest extends Shared, Placed {
  readonly kind: 'module'
  readonly stage: Stage
  /** Whether it runs in the gateway's process or in a worker of its own, unless the operator says otherwise. */
  readonly isolation: 'inproc' | 'worker'
  /** Longest run of a hook that is not held against it, in milliseconds, for those that must wait; else the operator's. */
  readonly budget_ms?: number | undefined
  /** The time limit of a hook, in milliseconds. */
  readonly timeout_ms?: number | undefined
}

/** With a stage it has hooks there. */
interface AreaManifest extends Shared, Sectioned, Placed {
  readonly kind: 'area'
  readonly stage?: Stage | undefined
}

interface ProviderManifest extends Shared, Sectioned {
  readonly kind: 'provider'
  readonly provider?: ProviderSpec | undefined
}

/** The facts of a plugin that must be known without running its code. */
export type Manifest = ModuleManifest | AreaManifest | ProviderManifest
/** Of a plugin whose hooks have a place in the chain. */
export type PlacedManifest = Extract<Manifest, { stage?: unknown }> & Pick<ModuleManifest, 'stage'>

export const isPlaced = (manifest: Manifest | undefined): manifest is PlacedManifest =>
  manifest !== undefined && 'stage' in manifest && manifest.stage !== undefined

/** Where a plugin is from: the gateway itself, an operator's folder, or a package. */
export type Source = 'builtin' | 'local' | 'package'

/** A plugin as found on disk: sound, or with the reason why not. */
export interface Discovered {
  readonly id: string
  readonly folder: string
  readonly source: Source
  readonly manifest: Manifest | undefined
  readonly problem: string | undefined
  /** The code's file, absent for plugins that are data only. */
  readonly entry: string | undefined
  /** Whether a command installed it: then it is on unless its settings say otherwise. */
  readonly installed?: true | undefined
  /** The copy that its code is imported from; the gateway's own plugins have none. */
  readonly staged?: Staged | undefined
}

/** How long an import or a setup may take unless the configuration says otherwise, in milliseconds. */
const defaultSetupMs = 30_000

/**
 * How long a plugin's import or its setup may take, in milliseconds. A short limit is for code from outside: without
 * its own plugins a gateway on a slow machine would answer nothing.
 */
export const setupLimit = ({ source }: Discovered, setupMs = defaultSetupMs): number =>
  source === 'builtin' ? Math.max(setupMs, defaultSetupMs) : setupMs
