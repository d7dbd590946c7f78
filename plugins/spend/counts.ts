import type { Budget, Cap, CapStanding, Left, SpendAnswer, SpendClaim } from '#kernel'
import { addRecentCost, capShare, dearestRecent, detach, type RecentCosts } from '#kit'
import { mostBelow, pairOf, sharedOf, standingsOf, unlimited, usedBy } from './claims.ts'
import type { Periods } from './periods.ts'
import type { Told } from './told.ts'

/** A reservation that is not settled, by its id. */
export type Open = Map<string, { readonly by: string; readonly thread: number }>

/** What a call that was let through has used. */
export interface Settled {
  readonly claim: SpendClaim
  readonly id: string | undefined
  readonly used: { readonly nano: number; readonly model: string | undefined; readonly ownKey: boolean }
}

interface Parts {
  readonly budget: (by: string) => Budget
  readonly periods: Periods
  readonly told: Told
  /** Outlive reloads. */
  readonly open: Open
  readonly recent: RecentCosts
}

/** What is set apart for a call, and by which rule. */
type Amount = Pick<SpendAnswer, 'nano' | 'basis'>

const isBlocking = ({ cap }: CapStanding): boolean => cap.action === 'block'

const leftOf = ({ mostNano, spentNano, reservedNano }: CapStanding): number =>
  Math.max(0, mostNano - spentNano - reservedNano)

/** Reserves and settles what calls cost under their caps. Lives in the first thread. */
export class CapCounts {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async reserve(claim: SpendClaim, thread: number): Promise<SpendAnswer> {
    const { periods, told } = this.#parts
    const { by, caps } = claim
    const known = this.#amountOf(claim)
    if (caps.length === 0) return { granted: true, ...known, standings: [] }
    await periods.ready(by, caps)
    const blocking = caps.filter(({ action }) => action === 'block')
    let cautious = this.#cautiousOf(claim)
    let left = Math.min(...blocking.map((cap) => periods.about(by, cap).mostNano))
    for (;;) {
      cautious = Math.min(cautious, Math.floor(left / 2))
      const amount: Amount = cautious > known.nano ? { nano: cautious, basis: 'otherwise' } : known
      const answer = await this.#take(claim, amount, thread)
      if (answer.granted || answer.isPassed) return answer
      const { standings, refusedBy } = answer
      if (amount === known) {
        detach('a cap that refused a call', told.tell(by, standings[refusedBy!]!, known.nano))
        return answer
      }
      left = Math.min(cautious, ...standings.filter(isBlocking).map(leftOf))
    }
  }

  /** Sets one amount apart. */
  async #take(claim: SpendClaim, { nano, basis }: Amount, thread: number): Promise<SpendAnswer> {
    const { budget, periods, open } = this.#parts
    const { by, caps, below, leaseMs } = claim
    const shared = sharedOf(by, caps)
    const belowOf = (cap: Cap): number | undefined => below?.[caps.indexOf(cap)]
    // A count refuses no claim of nothing, and a share may.
    const amount = below ? Math.max(1, nano) : nano
    const blockedAt = (cap: Cap): number =>
      cap.action === 'block' ? periods.about(by, cap).mostNano : unlimited
    const mostOf = (cap: Cap): number => {
      const share = belowOf(cap)
      const passedAt =
        share === undefined ? unlimited : mostBelow(share, periods.about(by, cap).mostNano) + amount
      return Math.min(blockedAt(cap), passedAt)
    }
    const pairs = shared.flatMap((those) => pairOf(those[0]!, amount, Math.min(...those.map(mostOf))))
    const answer = await budget(by).reserve(pairs, { leaseMs })
    const standings = this.#standings(by, caps, shared, answer.left)
    if (answer.granted) {
      open.set(answer.id, { by, thread })
      return { granted: true, id: answer.id, nano, basis, standings }
    }
    const isPassed = standings.some((one) => capShare(one) >= (belowOf(one.cap) ?? Number.POSITIVE_INFINITY))
    if (isPassed) return { granted: false, isPassed: true, nano, basis, standings }
    const [tightest] = shared[Math.floor(answer.claim / 2)]!.toSorted((a, b) => blockedAt(a) - blockedAt(b))
    return { granted: false, nano, basis, standings, refusedBy: caps.indexOf(tightest!) }
  }

  async settle({ claim: { by, caps }, id, used }: Settled): Promise<void> {
    const { budget, open, recent, told } = this.#parts
    if (used.model !== undefined && used.nano > 0) addRecentCost(recent, used.model, used.nano, Date.now())
    if (id === undefined) return
    open.delete(id)
    const isSettled = await budget(by).settle({ id }, usedBy(used))
    if (!isSettled) await this.#count(by, caps, used)
    for (const standing of await this.standings(by, caps)) await told.tell(by, standing)
  }

  async standings(by: string, caps: readonly Cap[]): Promise<CapStanding[]> {
    await this.#parts.periods.ready(by, caps)
    const shared = sharedOf(by, caps)
    const pairs = shared.flatMap(([cap]) => pairOf(cap!, 0, unlimited))
    return this.#standings(by, caps, shared, await this.#parts.budget(by).left(pairs))
  }

  /** Gives back what calls of a thread have reserved that has ended. */
  async lose(thread: number): Promise<void> {
    const lost = Array.from(this.#parts.open).filter(([, open]) => open.thread === thread)
    for (const [id, { by }] of lost) {
      this.#parts.open.delete(id)
      await this.#parts.budget(by).settle({ id }, usedBy({ nano: 0, ownKey: false }))
    }
  }

  /** Counts the cost of a call whose reservation was given back before it ended. */
  async #count(by: string, caps: readonly Cap[], used: Settled['used']): Promise<void> {
    const amounts = usedBy(used)
    const claims = sharedOf(by, caps).map(
      ([cap]) => pairOf(cap!, cap!.ownKeys ? amounts.nano : amounts.operator_nano, unlimited)[0],
    )
    const held = await this.#parts.budget(by).reserve(claims)
    if (held.granted) await this.#parts.budget(by).settle(held, {})
  }

  /** What a call is to count with at first, where nothing is known of what its model's calls cost. */
  #cautiousOf({ unknownOf, otherwiseNano, cautiousNano = 0 }: SpendClaim): number {
    if (unknownOf === undefined || otherwiseNano !== undefined) return 0
    return dearestRecent(this.#parts.recent, unknownOf, Date.now()) === undefined ? cautiousNano : 0
  }

  #amountOf({ nano, unknownOf, otherwiseNano }: SpendClaim): Amount {
    if (unknownOf === undefined) return { nano, basis: 'estimate' }
    const recent = dearestRecent(this.#parts.recent, unknownOf, Date.now())
    if (recent !== undefined && recent >= nano) return { nano: recent, basis: 'recent' }
    if (recent === undefined && otherwiseNano !== undefined && otherwiseNano >= nano)
      return { nano: otherwiseNano, basis: 'otherwise' }
    return { nano, basis: 'estimate' }
  }

  /** In the order of the caps. */
  #standings(
    by: string,
    caps: readonly Cap[],
    shared: readonly (readonly Cap[])[],
    left: readonly Left[],
  ): CapStanding[] {
    const all = shared.flatMap((those, i) =>
      standingsOf(those, [left[2 * i]!, left[2 * i + 1]!], (cap) => this.#parts.periods.about(by, cap)),
    )
    return caps.map((cap) => all.find((standing) => standing.cap === cap)!)
  }
}
