import { type Call, type Chunk, type Filter, noUsage, type Out, rateLimited, type Usage } from '#kernel'
import { countRequest, type Estimator, estimatorOf, usdOf } from '#kit'

/** What a usage costs, in nano-dollars; undefined where the price is not known. */
export type Price = (provider: string, model: string, usage: Usage) => number | undefined

/** Output tokens between two looks at the cost. */
const lookEvery = 16

/**
 * Ends a stream that costs more than it may. Tokens are estimated, as the provider tells its count at the end only;
 * a model without a known price is not bounded.
 */
export class SpendLimit implements Filter {
  readonly #call: Call
  readonly #mostNano: number
  readonly #price: Price
  #estimator: Estimator | undefined
  #input: number | undefined
  #output = 0
  #looked = 0

  constructor(call: Call, mostNano: number, price: Price) {
    this.#call = call
    this.#mostNano = mostNano
    this.#price = price
  }

  push(chunk: Chunk, out: Out): void {
    this.#estimator ??= estimatorOf(modelOf(this.#call))
    this.#output += tokensOf(chunk, this.#estimator)
    if (this.#output - this.#looked >= lookEvery) {
      this.#looked = this.#output
      if ((this.#nano() ?? 0) > this.#mostNano) {
        out.fail(this.#refusal())
        return
      }
    }
    out.emit(chunk)
  }

  #nano(): number | undefined {
    const attempt = this.#call.trail.attempts.at(-1)
    if (!attempt) return undefined
    this.#input ??= inputOf(this.#call, attempt.model)
    const usage: Usage = {
      ...noUsage,
      input: this.#input,
      output: Math.ceil(this.#output),
      source: 'estimated',
    }
    return this.#price(attempt.provider, attempt.model, usage)
  }

  #refusal() {
    const usd = usdOf(this.#mostNano)
    return rateLimited(`The answer was ended: it costs more than the $${usd} that one call may.`, {
      type: 'spend_limit',
    })
  }
}

const modelOf = ({ trail, request }: Call): string => trail.attempts.at(-1)?.model ?? request.model

function inputOf({ trail, request }: Call, model: string): number {
  return countRequest({ ...(trail.request ?? request), model }, estimatorOf(model)).tokens
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
