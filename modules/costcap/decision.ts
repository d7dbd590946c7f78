import {
  type Call,
  type Candidate,
  type Cap,
  type CapStanding,
  type Context,
  ModelCatalogue,
  ModelLadder,
  Pricing,
  Spend,
  type SpendAnswer,
  type SpendClaim,
  TokenCounting,
} from '#kernel'
import { type CostEstimate, capShare, estimateCost } from '#kit'
import type { Settings } from './caps.ts'
import { Fullness } from './fullness.ts'
import { refusedBy, tooDear } from './refusal.ts'

/** Longer than a call takes under the usual limits; the cost of one that takes longer is counted when it ends. */
const leaseMs = 900_000

/** Where a call goes, and what is set apart for it, if it was granted. */
export interface Decision {
  readonly claim: SpendClaim
  readonly answer: SpendAnswer
  /** The provider and model that the estimate is for. */
  readonly target: string
  readonly isServed: boolean
  /** The share of the fullest cap that it was decided by. */
  readonly share: number
  /** The model that the module sends the call to instead. */
  readonly lowered: string | undefined
}

/** Cheaper models, the best first, and whether this module sends the call there, or a later one does. */
interface Lowered {
  readonly models: readonly string[]
  readonly isHere: boolean
}

interface Parts extends Pick<Context<Settings>, 'id' | 'use' | 'find' | 'targets'> {
  readonly mostNano: number | undefined
  /** Called where a later module is to find a cheaper model for a call, because of this cap. */
  readonly needsLower: (call: Call, reached: CapStanding) => void
}

/** Decides where calls go as full as their caps are, and sets their cost apart. */
export class Decisions {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * A call goes to the model that it asks for while its caps are less full than a ladder or a cap allows for that, and else to the next
   * cheaper one. Counting decides in the same step in which it sets the cost apart, so calls at the same time find what the others took.
   */
  async of(call: Call, caps: readonly Cap[]): Promise<Decision> {
    const { use, find, targets, mostNano, id } = this.#parts
    const [asked] = await targets(call)
    const model = asked?.model ?? call.request.model
    const fullness = new Fullness(caps)
    for (;;) {
      const lower = this.#lower(call, model, fullness)
      const found = lower && (await this.#firstServed(call, lower.models))
      // Where no cheaper model is served, a ladder leaves the call as it is.
      const { going, served } = found ?? { going: call, served: asked }
      const estimate = served ? this.estimate(going, served) : estimateOfName(call.request.model)
      const below = lower?.isHere
        ? undefined
        : fullness.below(find(ModelLadder)?.stepAfter(model, fullness.share))
      if (mostNano !== undefined && estimate.nano > mostNano) {
        const before = fullness.share
        if (below) fullness.raise(await use(Spend).standings(id, caps))
        if (fullness.share > before) continue
        throw tooDear(estimate.nano, mostNano)
      }
      const claim = { ...this.#claim(caps, estimate), ...(below && { below }) }
      const answer = await use(Spend).reserve(claim)
      if (answer.isPassed) {
        fullness.raise(answer.standings)
        continue
      }
      const isElsewhere = lower?.isHere && !(found && isSame(found.served, asked))
      return {
        claim,
        answer,
        target: estimate.target,
        isServed: served !== undefined,
        share: Math.max(fullness.share, shareBefore(answer)),
        lowered: isElsewhere ? lower.models[0] : undefined,
      }
    }
  }

  /** Sets apart what a call that a plugin makes for a caller may cost where it is sent: it goes there or nowhere. */
  async at(
    call: Call,
    place: Pick<Candidate, 'provider' | 'model'>,
    caps: readonly Cap[],
  ): Promise<Decision> {
    const estimate = this.estimate(call, place)
    const claim = this.#claim(caps, estimate)
    const answer = await this.#parts.use(Spend).reserve(claim)
    return {
      claim,
      answer,
      target: estimate.target,
      isServed: true,
      share: shareBefore(answer),
      lowered: undefined,
    }
  }

  /** What a call would cost at a place. */
  estimate(call: Call, place: Pick<Candidate, 'provider' | 'model'>): CostEstimate {
    const { use, find } = this.#parts
    const rating = { prices: use(Pricing), tokens: use(TokenCounting), models: find(ModelCatalogue) }
    return estimateCost(call, place, rating)
  }

  /** The models that a call may go to as full as its caps are: one that a cap names, or steps down a ladder. */
  #lower(call: Call, model: string, { reached, share }: Fullness): Lowered | undefined {
    const { find, needsLower } = this.#parts
    const named = reached.find(({ cap }) => cap.downgradeModel !== undefined)?.cap.downgradeModel
    if (named !== undefined) return { models: [named], isHere: true }
    const models = find(ModelLadder)?.steps(call, model, share) ?? []
    if (models.length === 0 && reached[0]) throw refusedBy(reached[0], 0)
    if (reached[0]) needsLower(call, reached[0])
    return models.length === 0 || models[0] === model ? undefined : { models, isHere: false }
  }

  /** The call for the first of these models that is served, and where it goes. */
  async #firstServed(call: Call, models: readonly string[]) {
    for (const model of models) {
      const going = call.withRequest({ model })
      const [served] = await this.#parts.targets(going)
      if (served) return { going, served }
    }
    return undefined
  }

  #claim(caps: readonly Cap[], { nano, cautiousNano, target, isWhole }: CostEstimate): SpendClaim {
    const claim = { by: this.#parts.id, caps, nano, leaseMs }
    if (isWhole) return claim
    return { ...claim, unknownOf: target, otherwiseNano: this.#parts.mostNano, cautiousNano }
  }
}

const isSame = (one: Candidate, other: Candidate | undefined): boolean =>
  one.provider === other?.provider && one.model === other.model

/** How full the fullest cap was before the cost was set apart. */
const shareBefore = ({ standings, nano }: SpendAnswer): number =>
  Math.max(
    0,
    ...standings.map((one) => capShare({ ...one, reservedNano: Math.max(0, one.reservedNano - nano) })),
  )

/**
 * For a model that nothing serves by this name, and that a fallback or another module may still exchange: its cost is not known,
 * and any amount, however small, has no room under a cap that is reached.
 */
const estimateOfName = (model: string): CostEstimate => ({
  nano: 1,
  cautiousNano: 1,
  target: model,
  isWhole: false,
})
