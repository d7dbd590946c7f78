import { type Call, type Context, type ModelRequest, noUsage, Pricing, TokenCounting } from '#kernel'
import { answerCount, tokenLimit } from '#kit'
import type { ScoreRow } from '../scores/row.ts'
import type { Place } from './route.ts'

/** Tokens of an answer of which nothing is known. */
const usualAnswer = 256

/** Says what calls would take and cost, before they are made. */
export class Estimates {
  readonly #find: Context<unknown>['find']

  constructor({ find }: Pick<Context<unknown>, 'find'>) {
    this.#find = find
  }

  /** Tokens of a prompt. */
  prompt(request: ModelRequest, model: string): number {
    return this.#find(TokenCounting)?.estimate({ ...request, model }).tokens ?? 0
  }

  /** Tokens of the prompt and of the longest answer that the call may get. */
  window({ request }: Call, model: string): number {
    return this.prompt(request, model) + (tokenLimit(request) ?? usualAnswer)
  }

  /** The cost at a place, with an answer as long as this model's usually are; undefined where no price is known. */
  cost({ request }: Call, place: Place | undefined, score: ScoreRow | undefined): number | undefined {
    if (!place) return undefined
    const input = this.prompt(request, place.model)
    const usual = Math.round(score?.tokens_out ?? usualAnswer)
    const output = Math.min(usual, tokenLimit(request) ?? usual) * answerCount(request)
    return this.price(place, { input, output })
  }

  price({ provider, model }: Place, used: { input: number; output: number }): number | undefined {
    const usage = { ...noUsage, ...used, source: 'estimated' as const }
    return this.#find(Pricing)?.cost(provider, model, usage)?.totalNano
  }
}
