import valid from 'semver/functions/valid.js'
import validRange from 'semver/ranges/valid.js'
import { z } from 'zod'
import { kernelKeys } from '../../config/schema.ts'
import type { Staged } from '../../staging/stage.ts'
import { findingTypes } from '../call/findings.ts'
import { stages } from '../chain/hooks.ts'
import { providerSpec } from '../contract/provider.ts'
import { permission } from '../permissions/permissions.ts'

export { explain } from './explain.ts'

export const idPattern = /^[a-z][a-z0-9-]{0,63}$/

/** Version of the contract that plugins are written against. */
export const apiVersion = '3.115.0'

const ids = z.array(z.string().regex(idPattern)).default([])

const shared = {
  id: z.string().regex(idPattern, 'must be lower case letters, digits and dashes'),
  version: z.string().refine((v) => valid(v) !== null, 'must be a semantic version'),
  /** Range of contract versions it runs with. */
  api: z
    .string()
    .refine((range) => validRange(range) !== null, 'must be a version range')
    .default('^3.0.0'),
  title: z.string().min(1).max(80),
  description: z.string().min(1).max(400),
  /** Plugins that must be active first. */
  requires: ids,
  /** Names of the services it offers to others, for people to read. */
  provides: z.array(z.string()).default([]),
  /** Whether it runs by default. */
  enabled: z.boolean().default(false),
  /**
   * The permissions for the services of the context, and for the data that hooks see and change beyond the parameters of calls;
   * `kernel` gives all of them.
   */
  permissions: z.array(permission).default([]),
}

const sectioned = {
  /** Keys of service.yaml that are this plugin's own: what stands there is the input of its settings. */
  sections: z
    .array(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be lower case letters, digits and _'))
    .refine((keys) => !keys.some((key) => kernelKeys.has(key)), "must not be a key of the kernel's")
    .default([]),
}

const stage = z.enum(stages)
/** The failure policy: whether a call passes or is refused when the module itself fails. */
const failure = z.enum(['open', 'closed'])
const placed = {
  /** Plugins of the same stage that run inside (`before`) or outside (`after`) of it. */
  before: ids,
  after: ids,
  /** The type of what its detections find, for traces; `custom` without it. */
  finds: z.enum(findingTypes).optional(),
}

/** The facts of a plugin that must be known without running its code. An area with a stage has hooks there. */
export const manifestSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    ...shared,
    ...placed,
    kind: z.literal('module'),
    stage,
    failure,
    /** Whether it runs in the gateway's process or in a worker of its own, unless the operator says otherwise. */
    isolation: z.enum(['inproc', 'worker']).default('inproc'),
    /** Longest run of a hook that is not held against it, in milliseconds, for those that must wait; else the operator's. */
    budget_ms: z.int().min(1).max(3_600_000).optional(),
    /** The time limit of a hook, in milliseconds. */
    timeout_ms: z.int().min(1).max(3_600_000).optional(),
  }),
  z.strictObject({
    ...{ ...shared, ...sectioned, ...placed, kind: z.literal('area') },
    ...{ stage: stage.optional(), failure: failure.default('open') },
  }),
  z.strictObject({ ...shared, ...sectioned, kind: z.literal('provider'), provider: providerSpec.optional() }),
])

export type Manifest = z.infer<typeof manifestSchema>
export type ModuleManifest = Extract<Manifest, { kind: 'module' }>
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
