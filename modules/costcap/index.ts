import {
  type Attempt,
  type Call,
  CallSettled,
  type Cap,
  type CapStanding,
  defineModule,
  type Outcome,
  Spend,
  SpendShare,
} from '#kernel'
import { capShare, nanoOf, usdOf } from '#kit'
import { compileCaps, settings as schema } from './caps.ts'
import { type Decision, Decisions } from './decision.ts'
import { refusedBy } from './refusal.ts'
import { Reservation } from './reservation.ts'

/** The caps that admins set for users hold in the module itself, not in its bindings too. */
const ofUsers = 'costcap'

/** How full the caps of a call are, of all configurations that it passes through. */
interface Fill {
  share?: number
  /** A reached cap for which a later module is to find a cheaper model. */
  reached?: CapStanding | undefined
  isLowered?: boolean
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
    const { id, settings, mode, slot, on, use, find, targets } = context
    const capsBySettings = compileCaps(settings)
    const mostNano = settings.max_call_usd === undefined ? undefined : nanoOf(settings.max_call_usd)
    const reservations = slot<{ deciding?: Promise<Decision>; made?: Reservation }>(() => ({}))
    const decisions = new Decisions({
      id,
      use,
      find,
      targets,
      mostNano,
      needsLower(call, reached) {
        if (mode === 'enforce') fills(call).reached ??= reached
      },
    })

    /** Attacks of the red team have a budget of their own, and leave those of the user alone. */
    function capsOn(call: Call): readonly Cap[] {
      const all = allCapsOn(call)
      return call.context.source === 'redteam' ? all.filter(({ scope }) => scope !== 'user') : all
    }

    function allCapsOn(call: Call): readonly Cap[] {
      const { userId } = call.principal
      const ofUser = id === ofUsers && userId !== undefined ? use(Spend).capsOf(userId) : []
      const others = capsBySettings?.(call) ?? []
      return ofUser.length === 0 ? others : [...ofUser, ...others]
    }

    async function pass(call: Call, caps: readonly Cap[]): Promise<Call | undefined> {
      const { trace, request } = call
      const deciding = decisions.of(call, caps)
      // Also for a call that ends before it is decided.
      reservations(call).deciding = deciding
      const decision = await deciding
      const { answer, share, lowered } = decision
      const { granted, nano, basis, standings, refusedBy: at } = answer
      if (decision.isServed) trace.header('X-Estimated-Cost-Usd', textOf(nano))
      trace.note(id, 'estimated', { usd: usdOf(nano), for: decision.target, by: basis })
      if (standings.length > 0) noteBudget(call, standings)
      if (!granted) throw refusedBy(standings[at!]!, nano)
      reservations(call).made = new Reservation(decision, () => use(Spend))
      const fill = fills(call)
      if (mode === 'enforce' && caps.length > 0) fill.share = Math.max(fill.share ?? 0, share)
      if (lowered === undefined) return undefined
      trace.decide({ kind: 'downgrade', chosen: lowered, reason: 'the cap is reached' })
      trace.header('X-Model-Downgraded', `${request.model}->${lowered}`)
      return call.withRequest({ model: lowered })
    }

    /** Calls that a plugin makes for a caller meet modules at their attempts first, and have their cost set apart there. */
    async function join(attempt: Attempt, call: Call, caps: readonly Cap[]): Promise<void> {
      const kept = reservations(call)
      kept.deciding ??= decisions.at(call, attempt, caps)
      const decision = await kept.deciding
      const { granted, nano, standings, refusedBy: at } = decision.answer
      if (!granted) throw refusedBy(standings[at!]!, nano)
      kept.made ??= new Reservation(decision, () => use(Spend))
      await enter(kept.made, attempt, call)
    }

    const enter = (made: Reservation, attempt: Attempt, call: Call): Promise<void> | undefined =>
      made.enter(attempt, () => decisions.estimate(call, attempt).nano)

    async function settle(
      deciding: Promise<Decision>,
      made: Reservation | undefined,
      { cost, provider, model }: Outcome,
      { trace: { attempts } }: Call,
    ): Promise<void> {
      // What could not be decided has refused the call, and been reported.
      const decision = await deciding.catch(() => undefined)
      if (!decision) return
      await (made ?? new Reservation(decision, () => use(Spend))).settle({
        nano: cost?.totalNano ?? 0,
        model: provider === undefined ? undefined : `${provider}/${model}`,
        ownKey: attempts.length > 0 && attempts.every(({ ownKey }) => ownKey),
      })
    }

    // Its trace is written later than listeners are told, so what is settled here is counted before the roll-up has it.
    on(CallSettled, ({ outcome, call }) => {
      if (!isForCaller(call)) return undefined
      const { deciding, made } = reservations(call)
      return deciding && settle(deciding, made, outcome, call)
    })

    const hasOwn = capsBySettings !== undefined || mostNano !== undefined

    return {
      idle: () => !hasOwn && (id !== ofUsers || use(Spend).anyCaps?.() === false),
      request(call) {
        const caps = capsOn(call)
        return caps.length === 0 && mostNano === undefined ? undefined : pass(call, caps)
      },
      attempt(attempt, call) {
        const { reached, isLowered } = fills(call)
        if (reached && !isLowered) throw refusedBy(reached, 0)
        if (isForCaller(call)) {
          // In shadow nothing would settle it.
          const caps = mode === 'enforce' ? capsOn(call) : []
          return caps.length === 0 ? undefined : join(attempt, call, caps)
        }
        const { made } = reservations(call)
        return made && enter(made, attempt, call)
      },
      settled(outcome, call) {
        const { deciding, made } = reservations(call)
        return deciding && settle(deciding, made, outcome, call)
      },
    }
  },
})

/** Whether a plugin asks a model on the account of the caller of another call. */
const isForCaller = ({ origin, principal }: Call): boolean => origin?.principal.keyId === principal.keyId

/** Says in the trace how full the fullest cap of a call is, for alerts on budgets; over all configurations that it passes. */
function noteBudget({ trace: { facts } }: Call, standings: readonly CapStanding[]): void {
  const { used_pct: before = 0 } = (facts.budget ?? {}) as { readonly used_pct?: number }
  facts.budget = {
    used_pct: Math.max(before, Math.round(Math.max(...standings.map(capShare)) * 100_000) / 1000),
  }
}

/** Dollars without an exponent. */
const textOf = (nano: number): string =>
  usdOf(nano)
    .toFixed(9)
    .replace(/\.?0+$/, '')
