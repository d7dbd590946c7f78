import type { Hooks } from '../../chain/hooks.ts'

/** Marks hooks that lead to a worker. */
export const remote: unique symbol = Symbol('remote')

export interface Remote {
  readonly [remote]: {
    /** Whether the module looks for something in requests, out of sight of this side. */
    readonly detects: boolean
  }
}

export const detectsElsewhere = (hooks: Hooks): boolean =>
  remote in hooks && (hooks as Remote)[remote].detects
