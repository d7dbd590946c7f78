import { type BodySlot, decodeBodies } from './chunk.ts'

/**
 * Decodes chunks of bodies, and keeps the one before as long as memory allows: bodies are mostly read one after the other, and
 * to decode a chunk for each of its bodies would cost the size of a chunk each time.
 */
export class LastBodies {
  #last: WeakRef<{ readonly stored: Uint8Array; readonly slots: readonly BodySlot[] }> | undefined

  decode(stored: Uint8Array | undefined): readonly BodySlot[] {
    if (stored === undefined) return []
    const last = this.#last?.deref()
    // The bytes say what they hold, so a chunk that was written anew is never taken for the one before.
    if (last && Buffer.compare(last.stored, stored) === 0) return last.slots
    const slots = decodeBodies(stored)
    this.#last = new WeakRef({ stored, slots })
    return slots
  }
}
