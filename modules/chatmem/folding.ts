import { type Call, type Context, isGatewayError } from '#kernel'
import { summarise } from '#kit'
import { extracted, linesOf } from './extract.ts'
import type { Memory } from './memory.ts'
import type { SessionRow } from './rows.ts'

type Means = Pick<Context<unknown>, 'id' | 'complete' | 'inspect' | 'log'>

interface Bounds {
  /** Tokens that a call may get in all: a quarter is for the summary, and the rest for turns. */
  readonly budget: number
  /** Without it, and where it fails, the summary is made of sentences of the turns. */
  readonly model: string | undefined
}

/** Characters of a token, fewer than most texts have. */
const tokenLength = 3

/** Keeps sessions within their bounds: puts a summary in the place of the oldest turns. */
export class Folding {
  readonly #means: Means
  readonly #memory: Memory
  readonly #bounds: Bounds
  readonly #running = new Set<string>()

  constructor(means: Means, memory: Memory, bounds: Bounds) {
    this.#means = means
    this.#memory = memory
    this.#bounds = bounds
  }

  /**
   * Folds until the turns take half of their room, if they take more than that room, so that the model is asked once for several turns. One
   * at a time for a session.
   */
  async fold(id: string, { tokens }: SessionRow, call: Call): Promise<void> {
    const room = this.#bounds.budget * 0.75
    if (tokens <= room || this.#running.has(id)) return
    this.#running.add(id)
    try {
      const found = await this.#memory.recall(id)
      if (!found) return
      let left = tokens
      const old = found.turns.filter(({ tokens }) => {
        const goes = left > room / 2
        if (goes) left -= tokens
        return goes
      })
      const lines = [...(found.summary?.split('\n') ?? []), ...old.flatMap(linesOf)]
      await this.#memory.fold(id, old, await this.#summaryOf(lines, call))
    } finally {
      this.#running.delete(id)
    }
  }

  async #summaryOf(lines: readonly string[], call: Call): Promise<string> {
    const tokens = Math.floor(this.#bounds.budget / 4)
    const told =
      (await this.#told(lines.join('\n'), tokens, call)) ?? extracted(lines, tokens * tokenLength).join('\n')
    return told.slice(0, tokens * tokenLength).toWellFormed()
  }

  /** What the model makes of a text; undefined where it is not asked, or fails. */
  async #told(text: string, tokens: number, call: Call): Promise<string | undefined> {
    const { id, complete, inspect, log } = this.#means
    const { model } = this.#bounds
    if (model === undefined) return undefined
    try {
      const [seen] = await inspect(call, [{ role: 'user', text }])
      // A mask of this call means nothing in later ones, so what guards change is not given to a model.
      if (seen !== text) return undefined
      return await summarise(complete, { model, tokens }, text, { after: call, as: 'caller' })
    } catch (error) {
      if (!isGatewayError(error)) log.warn({ err: error }, `${id}: a model did not summarise`)
      return undefined
    }
  }
}
