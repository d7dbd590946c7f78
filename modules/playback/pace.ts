import { Chunk, type Completion, type CompletionChunk } from '#kernel'
import { toChunks } from '#kit'
import { charactersOf, cut } from './pieces.ts'

/** How far an answer was: after so many milliseconds, so many characters had come. Both only grow. */
export type Step = readonly [ms: number, characters: number]

/** Of more steps, the later ones count for less: one is kept for each so many milliseconds. */
const mostSteps = 5000

/** Takes down how fast a stream comes. */
export class Stopwatch {
  readonly #began: number
  readonly #steps: Step[] = []
  #characters = 0

  /** `began`: when the call left, by `performance.now()`. */
  constructor(began: number) {
    this.#began = began
  }

  /** Takes a chunk that comes now. */
  add(chunk: CompletionChunk): void {
    this.#characters += charactersOf(chunk)
    const ms = Math.round(performance.now() - this.#began)
    if (this.#steps.at(-1)?.[0] === ms || this.#steps.length === mostSteps) this.#steps.pop()
    this.#steps.push([ms, this.#characters])
  }

  get steps(): readonly Step[] {
    return this.#steps
  }
}

/** The pace of an answer that came as a whole. */
export const atOnce = (body: Completion, ms: number): Step[] => [
  [Math.round(ms), toChunks(body).reduce((sum, { data }) => sum + charactersOf(data), 0)],
]

/** A chunk and when it is due, in milliseconds after the call came. */
export interface Due {
  readonly chunk: Chunk
  readonly ms: number
}

/**
 * An answer in chunks, cut where the recorded one was. Each is due when as large a part of the answer had come; what follows the
 * text, when the answer was over. A secret that was taken out makes an answer shorter: its cuts are nearer to each other then.
 */
export function scheduled(body: Completion, steps: readonly Step[]): Due[] {
  const chunks = toChunks(body, Number.POSITIVE_INFINITY).map(({ data }) => data)
  const total = chunks.reduce((sum, chunk) => sum + charactersOf(chunk), 0)
  const [overMs, recorded] = steps.at(-1) ?? [0, 0]
  const scale = recorded === 0 ? 0 : total / recorded
  const ends = steps.map(([ms, characters]) => ({ ms, at: Math.round(characters * scale) }))
  const due: Due[] = []
  let come = 0
  for (const chunk of chunks) {
    const begin = come
    for (const piece of cut(
      chunk,
      ends.map(({ at }) => at - begin),
    )) {
      const size = charactersOf(piece)
      come += size
      const isOver = size === 0 && come === total
      const ms = isOver ? overMs : (ends.find(({ at }) => at >= come)?.ms ?? overMs)
      due.push({ chunk: Chunk.of(piece), ms })
    }
  }
  return due
}

/** `412:3 440:18`: one line of a file, whatever the number of steps. */
export const textOf = (steps: readonly Step[]): string => steps.map((step) => step.join(':')).join(' ')

/** What `textOf` wrote; undefined for what is no such text. */
export function stepsOf(text: string): Step[] | undefined {
  const steps = text === '' ? [] : text.split(' ').map((step) => step.split(':').map(Number))
  const isGrowing = steps.every(
    ([ms, characters, ...rest], at) =>
      isCount(ms) &&
      isCount(characters) &&
      rest.length === 0 &&
      ms >= (steps[at - 1]?.[0] ?? 0) &&
      characters >= (steps[at - 1]?.[1] ?? 0),
  )
  return isGrowing ? (steps as unknown as Step[]) : undefined
}

const isCount = (value: number | undefined): value is number => Number.isSafeInteger(value) && value! >= 0
