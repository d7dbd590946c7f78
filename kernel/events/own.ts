import { CallFirstContent, CallSettled, CallStarted } from '../call/outcome.ts'
import type { EventType } from '../events.ts'
import { ModuleChanged, ModuleRestored, ModuleTripped } from '../plugin/module-events.ts'
import { ThreadEnded } from '../threads/threads.ts'
import { ManagementAudited } from './audit.ts'

/** The events that the gateway itself emits. */
export const ownEvents: readonly EventType<unknown>[] = [
  CallFirstContent,
  CallSettled,
  CallStarted,
  ManagementAudited,
  ModuleChanged,
  ModuleRestored,
  ModuleTripped,
  ThreadEnded,
]
