import type { Mode } from '../../../../test/conformance/example.ts'
import type { Conformance } from '../conform.ts'
import type { Trial } from './trial.ts'

/** The messages for the author of a plugin. */
export type News =
  | { readonly event: 'started'; readonly plugin: Described; readonly watches: boolean }
  | { readonly event: 'loaded'; readonly ms: number }
  | {
      readonly event: 'refused'
      readonly problem: string
      /** Whether a version before runs on. */
      readonly runs_on: boolean
    }
  | {
      readonly event: 'call'
      readonly title: string
      readonly modes: Readonly<Partial<Record<Mode, Trial>>>
      readonly routes: readonly { readonly route: string; readonly status: number; readonly body: unknown }[]
    }
  | {
      readonly event: 'checks'
      readonly ok: boolean
      readonly checks: Conformance
      /** Names of those that are other than last time. */
      readonly changed: readonly string[]
    }
  | { readonly event: 'problem'; readonly problem: string }

export interface Described {
  readonly id: string
  readonly kind: string
  readonly version: string
  readonly folder: string
}
