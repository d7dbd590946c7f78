import {
  type Call,
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
import { type Estimate, estimateOf } from './estimate.ts'
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

/** A cheaper model, and whether this module sends the call there, or a later one does. */
interface Lowered {
  readonly model: string
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

    /** The model that the call goes to as full as its caps are: one that a cap names, or a step down a ladder. */
    function lowerModel(call: Call, model: string, standings: readonly CapStanding[]): Lowered | undefined {
      const reached = standings.filter((one) => one.cap.action === 'downgrade' && shareOf(one) >= 1)
      const named = reached.find(({ cap }) => cap.downgradeModel !== undefined)?.cap.downgradeModel
      if (named !== undefined) return { model: named, isHere: true }
      const step = find(ModelLadder)?.step(call, model, fullest(standings))
      if (step === undefined && reached[0]) throw refusedBy(reached[0], 0)
      if (mode === 'enforce') fills(call).reached = reached[0]
      return step === undefined || step === model ? undefined : { model: step, isHere: false }
    }

    /** How full the caps are, where that may change the model. */
    async function lowered(call: Call, model: string, caps: readonly Cap[]): Promise<Lowered | undefined> {
      const mayLower = find(ModelLadder) !== undefined || caps.some(({ action }) => action === 'downgrade')
      if (!mayLower) return undefined
      const standings = caps.length === 0 ? [] : await use(Spend).standings(id, caps)
      const fill = fills(call)
      if (mode === 'enforce' && caps.length > 0) fill.share = Math.max(fill.share ?? 0, fullest(standings))
      return lowerModel(call, model, standings)
    }

    function claimOf(caps: readonly Cap[], { nano, target, isWhole }: Estimate): SpendClaim {
      const claim = { by: id, caps, nano, leaseMs }
      return isWhole ? claim : { ...claim, unknownOf: target, otherwiseNano: mostNano }
    }

    async function pass(call: Call, caps: readonly Cap[]): Promise<Call | undefined> {
      const { trace, request } = call
      const [asked] = await targets(call)
      // A call that can go nowhere is refused further in.
      if (!asked) return undefined
      const lower = await lowered(call, asked.model, caps)
      const going = lower ? call.withRequest({ model: lower.model }) : call
      const target = lower ? (await targets(going))[0] : asked
      if (!target) return lower?.isHere ? going : undefined
      const estimate = estimateOf(going, target, { prices: use(Pricing), tokens: use(TokenCounting) })
      if (mostNano !== undefined && estimate.nano > mostNano) throw tooDear(estimate.nano, mostNano)
      const claim = claimOf(caps, estimate)
      const answer = Promise.resolve(use(Spend).reserve(claim))
      // Also for a call that ends before the answer is there.
      claims(call).made = { claim, answer }
      const { granted, nano, basis, standings, refusedBy: at } = await answer
      trace.header('X-Estimated-Cost-Usd', textOf(nano))
      trace.note(id, 'estimated', { usd: usdOf(nano), for: estimate.target, by: basis })
      if (!granted) throw refusedBy(standings[at!]!, nano)
      if (!lower?.isHere) return undefined
      trace.decide({ kind: 'downgrade', chosen: lower.model, reason: 'the cap is reached' })
      trace.header('X-Model-Downgraded', `${request.model}->${lower.model}`)
      return going
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

const shareOf = ({ mostNano, spentNano, reservedNano }: CapStanding): number =>
  mostNano === 0 ? 1 : (spentNano + reservedNano) / mostNano

const fullest = (standings: readonly CapStanding[]): number => Math.max(0, ...standings.map(shareOf))

/** Dollars without an exponent. */
const textOf = (nano: number): string =>
  usdOf(nano)
    .toFixed(9)
    .replace(/\.?0+$/, '')
