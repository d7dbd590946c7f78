import { type AutopilotOptions, type Awaitable, type Call, notFound } from '#kernel'
import { stickyPlace } from '#kit'
import type { Cap } from '../cap.ts'
import type { Configured } from '../configuration/configured.ts'
import { ownNames } from '../configuration/fields.ts'
import type { Estimates } from './estimates.ts'
import { isComparable } from './features.ts'
import type { Open, Openings } from './openings.ts'
import type { Ranking } from './ranking.ts'
import type { Chosen, Place } from './route.ts'

type Targets = AutopilotOptions['targets']

interface Parts {
  readonly configured: Configured
  readonly ranking: Ranking
  readonly estimates: Estimates
  readonly openings: Openings
  readonly cap: Cap
}

/** Chooses the models of calls. */
export class Router {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Whether a call asks for autopilot, by its name or by that of the reference model. */
  concerns({ request: { model }, context }: Call): boolean {
    if (ownNames.includes(model)) return true
    return model === this.#parts.configured.current.reference_model && context.provider === undefined
  }

  route(call: Call, { targets, otherwise }: AutopilotOptions): Awaitable<Chosen | undefined> {
    if (!this.concerns(call)) return undefined
    const { enabled, reference_model } = this.#parts.configured.current
    const reference = reference_model ?? otherwise
    if (reference === undefined) throw noReference(call.request.model)
    if (enabled && isComparable(call) && call.context.provider === undefined)
      return this.#choose(call, reference, targets)
    if (call.request.model === reference) return undefined
    const reason = enabled ? 'only chats to any provider are routed' : 'autopilot is off'
    call.trace.decide({ kind: 'autopilot', chosen: reference, reason })
    return { ...toReference(call, reference, reason), isCounted: false }
  }

  /**
   * A route to the reference model with where it was asked and what that was to cost. Where no other model qualifies nothing looks
   * this up before the call, which need not wait for it.
   */
  placed(call: Call, chosen: Chosen): Chosen {
    const [first] = call.trace.attempts
    if (chosen.place || chosen.fallback !== undefined || !first) return chosen
    const { estimates, ranking } = this.#parts
    const place = { provider: first.provider, model: first.model }
    const nano = estimates.cost(call, place, ranking.now.reference)
    return { ...chosen, place, baseline: place, estimateNano: nano, baselineNano: nano }
  }

  async #choose(call: Call, reference: string, targets: Targets): Promise<Chosen> {
    const { estimates, cap, ranking, configured, openings } = this.#parts
    const { reference: usual, better } = ranking.now
    const [baseline] = better.length > 0 ? await targets(call.withRequest({ model: reference })) : []
    const { open, refused } = await openings.of(call, better, baseline, targets)
    const [best, ...others] = open
    const explored = others[exploredOf(call, configured.current.explore_pct, others.length)]
    const found = explored ?? best
    const isCapped = found !== undefined && !(await cap.take(call.principal))
    const { reason, chosen } = isCapped
      ? { reason: 'the calls of the day are used up', chosen: undefined }
      : { reason: reasonOf(found, explored, refused), chosen: found }
    const estimateOf = (place: Place | undefined, score = usual) => estimates.cost(call, place, score)
    const made: Chosen = {
      ...toReference(call, reference, reason),
      baseline,
      place: baseline,
      estimateNano: estimateOf(baseline),
      baselineNano: estimateOf(baseline),
      ...(chosen && {
        model: chosen.standing.score.model,
        fallback: reference,
        place: chosen.place,
        quality: chosen.standing.quality!,
        estimateNano: estimateOf(chosen.place, chosen.standing.score),
      }),
      isCapped,
    }
    const considered = [...better.map(({ score }) => score.model), reference]
    call.trace.decide({ kind: 'autopilot', chosen: made.model, reason, considered })
    call.trace.header('X-Autopilot-Model', made.model)
    return made
  }
}

/** The place of the model to explore among the others; -1 for none. The same for all looks at one call. */
function exploredOf(call: Call, percent: number, others: number): number {
  if (percent === 0 || others === 0) return -1
  const drawn = stickyPlace('autopilot', 'call', call) * 100
  return drawn < percent ? Math.floor((drawn / percent) * others) : -1
}

function reasonOf(found: Open | undefined, explored: Open | undefined, refused: readonly string[]): string {
  const passed = refused.length > 0 ? `; passed over: ${refused.join(', ')}` : ''
  if (!found) return `no other model qualifies${passed}`
  const { interval, score } = found.standing
  const why = explored ? 'explored' : 'the best that qualifies'
  return `${why}: at least ${interval.low.toFixed(3)} of its answers are as good as those of ${score.reference}${passed}`
}

const toReference = (call: Call, reference: string, reason: string): Chosen => ({
  model: reference,
  fallback: undefined,
  requested: call.request.model,
  reason,
  place: undefined,
  baseline: undefined,
  quality: 1,
  estimateNano: undefined,
  baselineNano: undefined,
  isCapped: false,
  isCounted: true,
})

/** What to do where there is no reference model. */
export const advice =
  'It stands for what autopilot chooses, and no reference model is set. Ask for a model by its name, or set reference_model with PUT /api/autopilot.'

const noReference = (model: string) =>
  notFound(`No provider serves the model ${model}. ${advice}`, { param: 'model' })
