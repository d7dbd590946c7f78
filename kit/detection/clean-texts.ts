import { hash, randomBytes } from 'node:crypto'
import type { Call } from '../../kernel/call/call.ts'
import { circleOf } from '../answers/answer-key.ts'

/** Shorter texts are searched as fast as they are recognised. */
const shortest = 1024
/** Texts that are remembered, about a hundred bytes for each. */
const most = 8192

/**
 * Texts in which a detector found nothing: a conversation comes again with each of its turns, and need not be searched again.
 * It keeps only a keyed hash of each text, and no caller can learn of another's texts, not by time either. For detectors whose
 * findings follow from the text alone; a change of the search needs a new instance.
 */
export class CleanTexts {
  readonly #key = randomBytes(32).toString('base64')
  readonly #known = new Set<string>()

  /** Whether nothing was found in this text of the caller's before. */
  has(text: string, call: Call): boolean {
    return text.length >= shortest && this.#known.has(this.#idOf(text, call))
  }

  /** The findings of `search` in a text, without a search of a text in which it found nothing before. */
  search<T>(text: string, call: Call, search: () => readonly T[]): readonly T[] {
    if (text.length < shortest) return search()
    const id = this.#idOf(text, call)
    const known = this.#known.delete(id)
    const found = known ? [] : search()
    if (found.length === 0) this.#add(id)
    return found
  }

  /** As the newest; the one that was not seen for longest makes room. */
  #add(id: string): void {
    this.#known.add(id)
    if (this.#known.size <= most) return
    for (const oldest of this.#known) {
      this.#known.delete(oldest)
      return
    }
  }

  #idOf(text: string, call: Call): string {
    return hash('sha256', `${this.#key} ${circleOf(call, 'user')} ${text}`, 'base64')
  }
}
