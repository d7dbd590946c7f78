import type { ModelRequest } from '#kernel'
import { type Difference, differences, messageTexts, similarity, takingTurns } from '#kit'
import type { Cassette } from './cassette.ts'
import type { Question } from './recording.ts'

/** The recording whose question is most like another one, and where the two differ. It tells nothing of their texts. */
export interface Nearest {
  readonly file: string
  readonly differences: readonly Difference[]
}

/** Characters of a question that are compared, from its end, where conversations differ. */
const compared = 4000

/** Searches a cassette for what is like a question; one search at a time, since each reads all files. */
export class NearestSearch {
  readonly #cassette: Cassette
  #turn: Promise<unknown> = Promise.resolve()

  constructor(cassette: Cassette) {
    this.#cassette = cassette
  }

  /** Undefined where nothing was recorded for this circle, and where `signal` aborts before its turn. */
  find(asked: Question, signal: AbortSignal): Promise<Nearest | undefined> {
    const found = this.#turn.then(() => (signal.aborted ? undefined : this.#find(asked)))
    this.#turn = found.catch(() => {})
    return found
  }

  async #find({ operation, circle, request }: Question) {
    const words = wordsOf(request)
    const rest = takingTurns()
    let nearest: { file: string; recorded: ModelRequest; score: number } | undefined
    for (const file of await this.#cassette.names()) {
      await rest()
      const recording = await this.#cassette.find(file).catch(() => undefined)
      if (recording?.operation !== operation || recording.circle !== circle) continue
      const isSameModel = recording.request.model === request.model
      const score = similarity(wordsOf(recording.request), words) + (isSameModel ? 0.1 : 0)
      if (!nearest || score > nearest.score) nearest = { file, recorded: recording.request, score }
    }
    return nearest && { file: nearest.file, differences: differences(nearest.recorded, request) }
  }
}

const wordsOf = ({ messages, prompt, input }: ModelRequest): string =>
  [...(messages ?? []).flatMap(messageTexts), ...[prompt, input].flat(2).map(String)]
    .join(' ')
    .slice(-compared)
