import type { Call } from '../call/call.ts'
import type { Reply } from '../call/reply.ts'
import type { Detection } from '../detect/detect.ts'
import type { Chunk } from '../stream/chunk.ts'
import type { Filter } from '../stream/filter.ts'
import type { Entry } from './entry.ts'
import type { Hooks } from './hooks.ts'

type Batches = AsyncIterable<readonly Chunk[]>

/** Rewrites a stream batch by batch and may take its time, where a filter takes chunks and answers at once. */
export abstract class BatchFilter {
  abstract through(chunks: Batches, entry: Entry): Batches
}

/** Shows the client alone what a whole answer or a stream has behind it, and may take its time. */
export abstract class BatchReveal {
  abstract through(reply: Reply, entry: Entry, call: Call): Promise<Reply>
}

/** Marks hooks whose module looks for something in requests that cannot be asked here what it would have found. */
export const looksElsewhere: unique symbol = Symbol('looks elsewhere')

/** Hooks as the chain runs them: those that modules define, and those that lead to another thread. */
export interface ChainHooks extends Omit<Hooks, 'stream' | 'reveal' | 'reply'> {
  readonly reply?: Hooks['reply']
  readonly stream?: 'buffer' | ((call: Call) => Filter | BatchFilter | undefined)
  readonly reveal?: Detection | BatchReveal
  readonly [looksElsewhere]?: boolean
}
