import { Assembler } from '../canonical/assemble.ts'
import type { Chunk } from '../canonical/chunk.ts'
import type { Completion } from '../canonical/forms.ts'

/** Reads an answer that comes in pieces; `completion` is what has come so far. */
export class Listening {
  readonly #assembler = new Assembler()

  /** The texts of some chunks. */
  hear(chunks: readonly Chunk[]): string {
    let text = ''
    for (const { data } of chunks) {
      this.#assembler.add(data)
      const piece = data.choices[0]?.delta?.content
      if (typeof piece === 'string') text += piece
    }
    return text
  }

  get completion(): Completion {
    return this.#assembler.completion()
  }
}
