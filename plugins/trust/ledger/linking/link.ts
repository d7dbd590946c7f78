import { ByteWriter } from '../byte-writer.ts'
import type { End } from '../end.ts'
import { type Joined, joined } from '../segment.ts'
import { Linking } from './linking.ts'

/** Entries in their places, and which of the drafts could be none, by their order. */
export interface Linked {
  /** Undefined where none could. */
  readonly entries: Joined | undefined
  readonly dropped: readonly number[]
}

/**
 * Makes entries of drafts, as `DraftBytes` has them, and puts them behind the end of a chain, in their order. What `lines` has is
 * written over.
 */
export function link(drafts: Uint8Array, end: End, lines = new ByteWriter(drafts.length)): Linked {
  lines.cut(0)
  const linking = new Linking(drafts, end, lines)
  const dropped: number[] = []
  for (let draft = 0; !linking.isAtEnd; draft++) if (!linking.next()) dropped.push(draft)
  const { count } = linking
  return { entries: count > 0 ? joined(lines.bytes, count, linking.end) : undefined, dropped }
}
