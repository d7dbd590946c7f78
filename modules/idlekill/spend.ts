import {
  type Attempt,
  type Call,
  type Chunk,
  type Estimator,
  type Filter,
  noUsage,
  type Out,
  type Pricing,
  rateLimited,
  type TokenCounting,
  type Usage,
} from '#kernel'
import { answerLength, shortenAnswer, usdOf } from '#kit'

/** The data that a spend is estimated with. */
export interface Rating {
  readonly prices: Pricing
  readonly tokens: TokenCounting
}

/** Output tokens between two looks at the cost. */
const lookEvery = 16

/**
 * Ends a stream that costs more than it may. Tokens are estimated, as the provider tells its count at the end only;
 * a model without a known price is not bounded.
 */
export class SpendLimit implements Filter {
  readonly #call: Call
  /** The attempt that gives this answer. */
  readonly #attempt: Attempt | undefined
  readonly #mostNano: number
  readonly #rating: Rating
  #estimator: Estimator | undefined
  #input: number | undefined
  #output = 0
  #looked = 0

  constructor(call: Call, mostNano: number, rating: Rating) {
    this.#call = call
    this.#attempt = call.trace.served
    this.#mostNano = mostNano
    this.#rating = rating
  }

  push(chunk: Chunk, out: Out): void {
    this.#estimator ??= this.#rating.tokens.estimator(this.#attempt?.model ?? this.#call.request.model)
    const before = this.#output
    this.#output += tokensOf(chunk, this.#estimator)
    if (this.#output - this.#looked >= lookEvery) {
      this.#looked = this.#output
      const nano = this.#nanoOf(this.#output) ?? 0
      if (nano > this.#mostNano) {
        const spent = this.#nanoOf(before) ?? 0
        const part = partOf(chunk, (this.#mostNano - spent) / (nano - spent))
        if (part) out.emit(part)
        out.fail(this.#refusal())
        return
      }
    }
    out.emit(chunk)
  }

  #nanoOf(output: number): number | undefined {
    const attempt = this.#attempt
    if (!attempt) return undefined
    this.#input ??= this.#inputOf(attempt.model)
    const usage: Usage = {
      ...noUsage,
      input: this.#input,
      output: Math.ceil(output),
      source: 'estimated',
    }
    return this.#rating.prices.cost(attempt.provider, attempt.model, usage)?.totalNano
  }

  #inputOf(model: string): number {
    const { trace, request } = this.#call
    return this.#rating.tokens.estimate({ ...(trace.request ?? request), model }).tokens
  }

  #refusal() {
    const usd = usdOf(this.#mostNano)
    return rateLimited(`The answer was ended: it exceeds the limit of $${usd} per call.`, {
      type: 'spend_limit',
    })
  }
}

function tokensOf({ data }: Chunk, estimator: Estimator): number {
  let tokens = 0
  for (const { delta, text } of data.choices) {
    tokens += estimator.weigh(text ?? '')
    for (const field in delta) {
      const value = delta[field]
      if (field === 'role' || !value) continue
      tokens += estimator.weigh(typeof value === 'string' ? value : JSON.stringify(value))
    }
  }
  return tokens
}

/** The first part of a chunk, which may be much of an answer: this share of its texts. Undefined where that is nothing. */
function partOf(chunk: Chunk, share: number): Chunk | undefined {
  const { usage: _, choices, ...rest } = chunk.data
  const kept = choices.flatMap((choice) => {
    const characters = Math.floor(share * answerLength(choice))
    return characters > 0 ? { ...shortenAnswer(choice, characters), finish_reason: null } : []
  })
  return kept.length > 0 ? chunk.with({ ...rest, choices: kept }) : undefined
}
