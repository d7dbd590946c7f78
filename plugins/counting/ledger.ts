import type { Claim, Held, Left, Limit, Refusal } from '#kernel'
import { checkAmount, type KeyedClaim, keyOf } from './claims.ts'
import type { Count, Hold, LedgerState } from './ledger-state.ts'
import type { Now, Taken } from './limits/kind.ts'
import { kinds } from './limits/kinds.ts'

/** A claim and its count. */
type Wanted = KeyedClaim & { readonly count: Count }

/** A request of an owner to reserve. */
export interface Asked {
  readonly budget: string
  readonly claims: readonly Claim[]
  readonly owner: string
  readonly leaseMs?: number | undefined
}

/** Where all that is reserved in a process is counted. Each method is one step: nothing comes between its parts. */
export class Ledger {
  readonly #state: LedgerState
  readonly #clock: () => Now

  constructor(state: LedgerState, clock: () => Now) {
    this.#state = state
    this.#clock = clock
  }

  reserve({ budget, claims, owner, leaseMs }: Asked, thread: number): Held | Refusal {
    const { ended, holds, owners, counts, dirty, name } = this.#state
    if (ended.has(owner)) throw new Error('A thread that has ended reserves nothing')
    const now = this.#now()
    const wanted = this.#wanted(budget, claims, now)
    const left = look(wanted, now)
    const claim = longest(left)
    if (claim !== undefined) return { granted: false, claim, retryMs: left[claim]!.retryMs, left }
    for (const { key, limit, amount, count } of wanted) {
      counts.set(key, count)
      kinds[limit.kind].take(count.state, limit, amount, now)
      if (limit.kind === 'bucket') dirty.add(key)
    }
    const due = leaseMs === undefined ? Number.POSITIVE_INFINITY : now.at + leaseMs
    this.#state.nextDue = Math.min(this.#state.nextDue, due)
    this.#state.lastId += 1
    const id = `${name}-${this.#state.lastId}`
    owners.set(owner, thread)
    holds.set(id, { at: now.at, wall: now.wall, owner, claims: wanted, due })
    return { granted: true, id, left: look(wanted, now) }
  }

  settle(id: string, used: Readonly<Record<string, number>>): boolean {
    for (const amount of Object.values(used)) checkAmount(amount)
    const now = this.#now()
    const hold = this.#state.holds.get(id)
    if (hold)
      this.#settle(id, hold, ({ unit, amount }) => (Object.hasOwn(used, unit) ? used[unit]! : amount), now)
    return hold !== undefined
  }

  left(budget: string, claims: readonly Claim[]): readonly Left[] {
    const now = this.#now()
    return look(this.#wanted(budget, claims, now), now)
  }

  /** Gives back what those of a thread have reserved that has ended. */
  lose(thread: number): void {
    const { owners, ended, holds } = this.#state
    for (const [owner, of] of owners) if (of === thread) ended.add(owner)
    const now = this.#clock()
    for (const [id, hold] of holds) if (ended.has(hold.owner)) this.#giveBack(id, hold, now)
    for (const owner of ended) owners.delete(owner)
  }

  /** Forgets counts that are as if they had never been; those that may be on disk become dirty. */
  sweep(): void {
    const now = this.#now()
    for (const [key, { kind, state }] of this.#state.counts) {
      if (!kinds[kind].isIdle(state, now)) continue
      this.#state.counts.delete(key)
      this.#state.dirty.add(key)
    }
  }

  /** The parts of these counts to keep, without open reservations; undefined for counts that have none. */
  packed(
    keys: readonly string[],
  ): [key: string, kept: { kind: Limit['kind']; count: number[] } | undefined][] {
    const { counts, holds } = this.#state
    const reserved = new Map<string, Taken[]>(keys.map((key) => [key, []]))
    for (const { at, wall, claims } of holds.values())
      for (const { key, amount } of claims) reserved.get(key)?.push({ at, wall, amount })
    return keys.map((key) => {
      const found = counts.get(key)
      const count = found && kinds[found.kind].pack(found.state, reserved.get(key)!)
      return [key, count && { kind: found.kind, count }]
    })
  }

  /** Takes in a count that was kept. */
  unpack(key: string, kind: Limit['kind'], count: readonly number[]): void {
    this.#state.counts.set(key, { kind, state: kinds[kind].unpack(count, this.#clock()) })
    this.#state.stored.add(key)
  }

  #now(): Now {
    const now = this.#clock()
    if (now.at >= this.#state.nextDue) this.#expire(now)
    return now
  }

  /** Gives back what was reserved until now and not settled. */
  #expire(now: Now): void {
    let next = Number.POSITIVE_INFINITY
    for (const [id, hold] of this.#state.holds) {
      if (hold.due <= now.at) this.#giveBack(id, hold, now)
      else next = Math.min(next, hold.due)
    }
    this.#state.nextDue = next
  }

  #giveBack(id: string, hold: Hold, now: Now): void {
    this.#settle(id, hold, () => 0, now)
  }

  #settle(id: string, hold: Hold, usedOf: (claim: KeyedClaim) => number, now: Now): void {
    const { counts, holds, dirty } = this.#state
    holds.delete(id)
    for (const claim of hold.claims) {
      const { key, limit, amount } = claim
      const count = this.#count(key, limit, now)
      counts.set(key, count)
      kinds[limit.kind].settle(count.state, limit, { ...hold, amount }, usedOf(claim), now)
      dirty.add(key)
    }
  }

  /** The count of a key; one that is not there yet is not put there either. */
  #count(key: string, limit: Limit, now: Now): Count {
    const { kind } = limit
    return this.#state.counts.get(key) ?? { kind, state: kinds[kind].fresh(limit, now) }
  }

  #wanted(budget: string, claims: readonly Claim[], now: Now): Wanted[] {
    const wanted: Wanted[] = []
    for (const claim of claims) {
      const { unit, limit, amount } = claim
      const key = keyOf(budget, claim)
      const same = wanted.find((other) => other.key === key)
      wanted.push({ key, unit, limit, amount, count: same?.count ?? this.#count(key, limit, now) })
    }
    return wanted
  }
}

/** How claims stand. Of several on one count each is looked at together with those before it. */
const look = (wanted: readonly Wanted[], now: Now): Left[] =>
  wanted.map(({ count, limit }, last) => {
    let amount = 0
    for (let i = 0; i <= last; i += 1) if (wanted[i]!.count === count) amount += wanted[i]!.amount
    return kinds[limit.kind].look(count.state, limit, amount, now)
  })

/** The claim that is refused for longest; undefined when none is. */
function longest(left: readonly Left[]): number | undefined {
  let index: number | undefined
  let ms = 0
  for (const [i, { retryMs = Number.POSITIVE_INFINITY }] of left.entries()) {
    if (retryMs <= ms) continue
    index = i
    ms = retryMs
  }
  return index
}
