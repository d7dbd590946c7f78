import { Chunk, envelopeOf } from '../../kit/canonical/chunk.ts'
import type { ChoiceDelta } from '../../kit/canonical/forms.ts'
import { mapReplyFields } from '../../kit/canonical/texts.ts'
import { isGatewayError } from '../../kit/errors.ts'
import type { Detector } from '../chain/detector.ts'
import type { Filter, Out } from '../stream/filter.ts'
import { ChoiceTexts } from './choice-texts.ts'
import { Window } from './window.ts'

/**
 * Detectors over a stream: one window for each text that grows. Chunks without a finding or held text keep their bytes. Held text
 * leaves with later text, before the end of its choice, or before what came behind it, which waits: an answer keeps its order.
 */
export class Redaction implements Filter {
  readonly #detectors: readonly Detector[]
  readonly #choices = new Map<number, ChoiceTexts>()
  #last: Chunk | undefined
  #failed = false

  constructor(detectors: readonly Detector[]) {
    this.#detectors = detectors
  }

  push(raw: Chunk, out: Out): void {
    this.#guarded(out, () => {
      const chunk = this.#searched(raw)
      this.#last = chunk
      const { choices: came, usage } = chunk.data
      const [texts, more] = this.#choices.values()
      if (came.length === 0 && !usage && texts && !more) {
        texts.add(chunk)
        this.#emit(texts, out)
        return
      }
      const choices = came.flatMap((choice) => this.#choice(choice, chunk, out))
      if (choices.length === came.length && choices.every((choice, i) => choice === came[i])) out.emit(chunk)
      else if (choices.length > 0 || usage) out.emit(chunk.with({ ...chunk.data, choices }))
    })
  }

  /** Providers end a choice with a finish reason; text that a stream without one still holds leaves here. */
  end(out: Out): void {
    this.#guarded(out, () => {
      for (const texts of this.#choices.values()) {
        texts.close()
        this.#emit(texts, out)
      }
    })
    for (const detector of this.#detectors) detector.settle()
  }

  /** The chunk with what it tells beside its texts searched, which comes whole. */
  #searched(chunk: Chunk): Chunk {
    const data = mapReplyFields(chunk.data, (text, place) => new Window(this.#detectors, place).whole(text))
    return data === chunk.data ? chunk : chunk.with(data)
  }

  /** What may leave with its chunk; what came before it leaves ahead. */
  #choice(choice: ChoiceDelta, chunk: Chunk, out: Out): ChoiceDelta[] {
    const texts = this.#choices.get(choice.index) ?? new ChoiceTexts(choice.index, this.#detectors)
    this.#choices.set(choice.index, texts)
    texts.add(chunk, choice)
    if (choice.finish_reason) this.#choices.delete(choice.index)
    return this.#emit(texts, out, chunk)
  }

  /** Emits what may leave; what is of the chunk that has just come is given back. */
  #emit(texts: ChoiceTexts, out: Out, current?: Chunk): ChoiceDelta[] {
    const own: ChoiceDelta[] = []
    for (const { chunk, choice } of texts.leave()) {
      if (current && chunk === current) own.push(choice!)
      else out.emit(this.#chunkOf(chunk, choice))
    }
    return own
  }

  /** A choice on its own: in its chunk where that has nothing else, or in one like the last. */
  #chunkOf(chunk: Chunk | undefined, choice: ChoiceDelta | undefined): Chunk {
    if (!chunk) return Chunk.of({ ...envelopeOf(this.#last!.data), choices: [choice!] })
    const { choices, usage } = chunk.data
    if (choices.length < 2 && choices[0] === choice && !usage) return chunk
    return chunk.with({ ...envelopeOf(chunk.data), choices: [choice!] })
  }

  #guarded(out: Out, run: () => void): void {
    if (this.#failed) return
    try {
      run()
    } catch (error) {
      if (!isGatewayError(error)) throw error
      this.#failed = true
      out.fail(error)
    }
  }
}
