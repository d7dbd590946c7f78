import type { Call } from '../call/call.ts'
import type { Entry } from './entry.ts'
import { handleFailure } from './entry.ts'
import { stages } from './hooks.ts'

/** The entries between two `around` hooks, and the `around` that wraps what follows. */
export interface Segment {
  readonly entries: readonly Entry[]
  readonly around: Entry | undefined
  /** Set on the first segment entry after the stages that inspect: from there on the request may be recorded. */
  readonly recordAt: number
}

const recordFrom = stages.indexOf('shape')

/** The entries of a chain that have anything for a call on its way, between those that wrap it. */
export function segmented(entries: readonly Entry[]): Segment[] {
  const segments: Segment[] = []
  let part: Entry[] = []
  let recordable = false
  let recordAt = -1
  const close = (around: Entry | undefined): void => {
    if (part.length > 0) segments.push({ entries: part, around, recordAt })
    part = []
    recordAt = -1
  }
  for (const entry of entries) {
    const { request, around, reply, stream, detect } = entry.hooks
    if (!(request ?? around ?? reply ?? stream ?? detect)) continue
    if (!recordable && stages.indexOf(entry.stage) >= recordFrom) {
      recordable = true
      recordAt = part.length
    }
    part.push(entry)
    if (around) close(entry)
  }
  close(undefined)
  return segments
}

/** What the `around` of an entry has to do with a call; nothing where the module fails over the question. */
export function wraps(entry: Entry, call: Call): boolean | 'failures' {
  try {
    return entry.hooks.wraps?.(call) ?? true
  } catch (error) {
    handleFailure(entry, 'wraps', error, call)
    return false
  }
}
