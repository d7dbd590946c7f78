import {
  type Call,
  type Candidate,
  type Cap,
  type CapStanding,
  defineModule,
  ModelLadder,
  Pricing,
  Spend,
  type SpendAnswer,
  type SpendClaim,
  SpendShare,
  TokenCounting,
} from '#kernel'
import { nanoOf, usdOf } from '#kit'
import { compileCaps, settings as schema } from './caps.ts'
import { type Estimate, estimateOf, estimateOfName } from './estimate.ts'
import { refusedBy, tooDear } from './refusal.ts'

/** The caps that admins set for users hold in the module itself, not in its bindings too. */
const ofUsers = 'costcap'

/** Longer than a call takes under the usual limits; the cost of one that takes longer is counted when it ends. */
const leaseMs = 900_000

interface Claimed {
  readonly claim: SpendClaim
  readonly answer: Promise<SpendAnswer>
}

/** How full the caps of a call are, of all configurations that it passes through. */
interface Fill {
  share?: number
  /** A reached cap for which a later module is to find a cheaper model. */
  reached?: CapStanding | undefined
  isLowered?: boolean
}

/** Cheaper models, the best first, and whether this module sends the call there, or a later one does. */
interface Lowered {
  readonly models: readonly string[]
  readonly isHere: boolean
}

export default defineModule({
  settings: schema,

  once({ provide, slot }) {
    const fills = slot<Fill>(() => ({}))
    provide(SpendShare, {
      of: (call) => fills(call).share,
      lowered(call) {
        fills(call).isLowered = true
      },
    })
    return fills
  },

  setup(context, fills) {
    const { id, settings, mode, slot, use, find, targets } = context
    const capsBySettings = compileCaps(settings)
    const mostNano = settings.max_call_usd === undefined ? undefined : nanoOf(settings.max_call_usd)
    const claims = slot<{ made?: Claimed }>(() => ({}))

    function capsOn(call: Call): readonly Cap[] {
      const { userId } = call.principal
      const ofUser = id === ofUsers && userId !== undefined ? use(Spend).capsOf(userId) : []
      const others = capsBySettings?.(call) ?? []
      return ofUser.length === 0 ? others : [...ofUser, ...others]
    }

    /** The models that the call may go to as full as its caps are: one that a cap names, or steps down a ladder. */
    function lowerModels(call: Call, model: string, standings: readonly CapStanding[]): Lowered | undefined {
      const reached = standings.filter((one) => one.cap.action === 'downgrade' && shareOf(one) >= 1)
      const named = reached.find(({ cap }) => cap.downgradeModel !== undefined)?.cap.downgradeModel
      if (named !== undefined) return { models: [named], isHere: true }
      const models = find(ModelLadder)?.steps(call, model, fullest(standings)) ?? []
      if (models.length === 0 && reached[0]) throw refusedBy(reached[0], 0)
      if (mode === 'enforce') fills(call).reached ??= reached[0]
      return models.length === 0 || models[0] === model ? undefined : { models, isHere: false }
    }

    /** How full the caps are, where that may change the model. */
    async function lowered(call: Call, model: string, caps: readonly Cap[]): Promise<Lowered | undefined> {
      const mayLower = find(ModelLadder) !== undefined || caps.some(({ action }) => action === 'downgrade')
      if (!mayLower) return undefined
      const standings = caps.length === 0 ? [] : await use(Spend).standings(id, caps)
      const fill = fills(call)
      if (mode === 'enforce' && caps.length > 0) fill.share = Math.max(fill.share ?? 0, fullest(standings))
      return lowerModels(call, model, standings)
    }

    /** The call for the first of these models that is served, and where it goes. */
    async function firstServed(call: Call, models: readonly string[]) {
      for (const model of models) {
        const going = call.withRequest({ model })
        const [served] = await targets(going)
        if (served) return { going, served }
      }
      return undefined
    }

    function claimOf(caps: readonly Cap[], { nano, target, isWhole }: Estimate): SpendClaim {
      const claim = { by: id, caps, nano, leaseMs }
      return isWhole ? claim : { ...claim, unknownOf: target, otherwiseNano: mostNano }
    }

    async function pass(call: Call, caps: readonly Cap[]): Promise<Call | undefined> {
      const { trace, request } = call
      const [asked] = await targets(call)
      const lower = await lowered(call, asked?.model ?? request.model, caps)
      const found = lower && (await firstServed(call, lower.models))
      // Where no cheaper model is served, a ladder leaves the call as it is.
      const { going, served } = found ?? { going: call, served: asked }
      const estimate = served
        ? estimateOf(going, served, { prices: use(Pricing), tokens: use(TokenCounting) })
        : estimateOfName(request.model)
      if (mostNano !== undefined && estimate.nano > mostNano) throw tooDear(estimate.nano, mostNano)
      const claim = claimOf(caps, estimate)
      const answer = Promise.resolve(use(Spend).reserve(claim))
      // Also for a call that ends before the answer is there.
      claims(call).made = { claim, answer }
      const { granted, nano, basis, standings, refusedBy: at } = await answer
      if (served) trace.header('X-Estimated-Cost-Usd', textOf(nano))
      trace.note(id, 'estimated', { usd: usdOf(nano), for: estimate.target, by: basis })
      if (standings.length > 0) noteBudget(call, standings)
      if (!granted) throw refusedBy(standings[at!]!, nano)
      if (!lower?.isHere || (found && isSame(found.served, asked))) return undefined
      const [model] = lower.models
      trace.decide({ kind: 'downgrade', chosen: model!, reason: 'the cap is reached' })
      trace.header('X-Model-Downgraded', `${request.model}->${model}`)
      return call.withRequest({ model: model! })
    }

    return {
      request(call) {
        const caps = capsOn(call)
        return caps.length === 0 && mostNano === undefined ? undefined : pass(call, caps)
      },
      attempt(_, call) {
        const { reached, isLowered } = fills(call)
        if (reached && !isLowered) throw refusedBy(reached, 0)
      },
      async settled({ cost, provider, model }, call) {
        const { made } = claims(call)
        // What could not be reserved has refused the call, and been reported.
        const answer = await made?.answer.catch(() => undefined)
        if (!made || !answer) return
        const { attempts } = call.trace
        await use(Spend).settle(made.claim, answer, {
          nano: cost?.totalNano ?? 0,
          model: provider === undefined ? undefined : `${provider}/${model}`,
          ownKey: attempts.length > 0 && attempts.every(({ ownKey }) => ownKey),
        })
      },
    }
  },
})

/** Says in the trace how full the fullest cap of a call is, for alerts on budgets; over all configurations that it passes. */
function noteBudget({ trace: { facts } }: Call, standings: readonly CapStanding[]): void {
  const { used_pct: before = 0 } = (facts.budget ?? {}) as { readonly used_pct?: number }
  facts.budget = { used_pct: Math.max(before, Math.round(fullest(standings) * 100_000) / 1000) }
}

const isSame = (one: Candidate, other: Candidate | undefined): boolean =>
  one.provider === other?.provider && one.model === other.model

const shareOf = ({ mostNano, spentNano, reservedNano }: CapStanding): number =>
  mostNano === 0 ? 1 : (spentNano + reservedNano) / mostNano

const fullest = (standings: readonly CapStanding[]): number => Math.max(0, ...standings.map(shareOf))

/** Dollars without an exponent. */
const textOf = (nano: number): string =>
  usdOf(nano)
    .toFixed(9)
    .replace(/\.?0+$/, '')
