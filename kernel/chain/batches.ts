import type { Chunk } from '../../kit/canonical/chunk.ts'
import type { Call } from '../call/call.ts'
import type { Detection } from '../detect/detect.ts'
import type { Filter } from '../stream/filter.ts'
import type { Entry } from './entry.ts'
import type { Hooks } from './hooks.ts'

export type Batches = AsyncIterable<readonly Chunk[]>

/** Rewrites a stream batch by batch and may take its time, where a filter takes chunks and answers at once. */
export class BatchFilter {
  /** The chunks as the module of an entry lets them go on. */
  readonly through: (chunks: Batches, entry: Entry) => Batches

  constructor(through: BatchFilter['through']) {
    this.through = through
  }
}

/** Rewrites answers, whole and streamed. */
export interface Rewriter {
  readonly reply?: Hooks['reply']
  readonly stream?: 'buffer' | ((call: Call) => Filter | BatchFilter | undefined)
}

/** Marks hooks whose module looks for something in requests that cannot be asked here what it would have found. */
export const looksElsewhere: unique symbol = Symbol('looks elsewhere')

/** What runs a detection of answers that is in another thread, and nothing else of its module. */
export const searchesElsewhere: unique symbol = Symbol('searches elsewhere')

/** Hooks as the chain runs them: those that modules define, and those that lead to another thread. */
export interface ChainHooks extends Omit<Hooks, 'reply' | 'stream' | 'reveal'>, Rewriter {
  /** A rewriter where the detection is in another thread. */
  readonly reveal?: Detection | Rewriter
  readonly [looksElsewhere]?: boolean
  readonly [searchesElsewhere]?: Rewriter
}
