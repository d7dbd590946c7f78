import { z } from 'zod'
import type { Sequence, Store } from '../../storage/index.ts'
import { eventActor } from '../events/happening.ts'

const change = z.object({
  /** `modules`, `bindings`, `plugins`, `code`, or a section that a plugin keeps. */
  section: z.string(),
  key: z.string(),
  /** The value set at runtime; null for none. */
  before: z.unknown(),
  after: z.unknown(),
})
export type ConfigChange = z.infer<typeof change>

const entry = z.object({
  generation: z.int(),
  at: z.string(),
  kind: z.enum(['start', 'change', 'rollback']),
  actor: eventActor,
  /** Id of the request that asked for it. */
  cause: z.string().exactOptional(),
  /** The generation that a rollback went back to. */
  to: z.int().exactOptional(),
  changes: z.array(change),
})
export type JournalEntry = z.infer<typeof entry>

/**
 * The configuration made at runtime, change by change, each written in one batch with its rows. The number of an entry is that
 * of the generation which it led to: numbers have no gaps, and grow over restarts.
 */
export type Journal = Sequence<JournalEntry>

export const openJournal = (store: Store): Journal => store.sequence('journal', entry)
