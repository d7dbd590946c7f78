import { ensure, type Priority, priorities } from '#kit'

/** The word on a ticket that waited: its turn has come, or another needed its place in the queue more. */
export type Word = 'turn' | 'displaced'

/** A place in the queue, and then a slot at the provider. */
export interface Ticket {
  readonly owner: string
  readonly weight: number
  readonly priority: Priority
  readonly tell: (word: Word) => void
  state: 'waiting' | 'running' | 'over'
  /** When its slot was taken. */
  since: number
}

/** A tenant or a user, who has a share of the slots. */
interface Owner {
  readonly name: string
  weight: number
  running: number
  /** Milliseconds of slots used, divided by the weight. */
  used: number
  readonly waiting: Record<Priority, Ticket[]>
}

export interface QueueBounds {
  /** Tickets that may run at a time. */
  readonly most: number
  readonly mostWaiting: number
}

/** Owners without a ticket that are remembered, so that a short pause does not make them newcomers. */
const mostIdle = 1000
/** The assumed time of a slot while none has been given back. */
const usualMs = 2000

/**
 * Slots of one provider or model, shared fairly by time and weight: start-time fair queueing (Goyal, Vin, Cheng 1996) on slots
 * that are held for as long as a call takes. A free slot goes to the owner who holds fewest for its weight; of those who hold as many,
 * to the one who has used least. The calls of one owner go by priority; low ones of all owners go when no other waits.
 * A full queue makes room at the cost of the owner with most waiting, so that a flood displaces itself.
 */
export class FairQueue {
  readonly #owners = new Map<string, Owner>()
  #bounds: QueueBounds
  #running = 0
  #waiting = 0
  /** What the latest owner to get a slot had used: newcomers and returners begin there, and claim nothing for the past. */
  #clock = 0
  #slotMs = usualMs

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Those who have a ticket. */
  get owners(): { readonly owner: string; readonly running: number; readonly waiting: number }[] {
    return [...this.#owners.values()]
      .filter((owner) => !isIdle(owner))
      .map((owner) => ({ owner: owner.name, running: owner.running, waiting: backlog(owner) }))
  }

  get most(): number {
    return this.#bounds.most
  }

  /** Takes a slot or a place in the queue; false when there is neither. */
  enter(ticket: Ticket, bounds: QueueBounds, now: number): boolean {
    this.#bounds = bounds
    const owner = this.#ownerOf(ticket)
    if (this.#running < bounds.most && this.#waiting === 0) {
      this.#run(ticket, owner, now)
      return true
    }
    if (this.#waiting >= bounds.mostWaiting && !this.#makeRoom(owner, ticket.priority)) {
      ticket.state = 'over'
      return false
    }
    owner.waiting[ticket.priority].push(ticket)
    this.#waiting += 1
    this.#fill(now)
    return true
  }

  /** Gives back a slot or a place in the queue. Doing it twice changes nothing. */
  leave(ticket: Ticket, now: number): void {
    const { state } = ticket
    if (state === 'over') return
    ticket.state = 'over'
    const owner = this.#owners.get(ticket.owner)!
    if (state === 'waiting') {
      const places = owner.waiting[ticket.priority]
      places.splice(places.indexOf(ticket), 1)
      this.#waiting -= 1
      return
    }
    const ms = now - ticket.since
    owner.running -= 1
    owner.used += ms / owner.weight
    this.#running -= 1
    this.#slotMs += (ms - this.#slotMs) / 10
    this.#fill(now)
    this.#forget()
  }

  /** Milliseconds until a place may be free, by how long slots are held. */
  get retryMs(): number {
    return (this.#slotMs * Math.max(1, this.#waiting)) / this.#bounds.most
  }

  #ownerOf({ owner: name, weight }: Ticket): Owner {
    const owner = ensure(this.#owners, name, () => ({
      name,
      weight,
      running: 0,
      used: 0,
      waiting: { high: [], normal: [], low: [] },
    }))
    owner.weight = weight
    if (isIdle(owner)) owner.used = Math.max(owner.used, this.#clock)
    return owner
  }

  #run(ticket: Ticket, owner: Owner, now: number): void {
    ticket.state = 'running'
    ticket.since = now
    owner.running += 1
    this.#running += 1
    this.#clock = Math.max(this.#clock, owner.used)
  }

  #fill(now: number): void {
    while (this.#running < this.#bounds.most && this.#waiting > 0) {
      const owner = this.#next()
      const ticket = owner.waiting[urgency(owner)!].shift()!
      this.#waiting -= 1
      this.#run(ticket, owner, now)
      ticket.tell('turn')
    }
  }

  #next(): Owner {
    let best: Owner | undefined
    for (const owner of this.#owners.values())
      if (urgency(owner) !== undefined && (!best || goesBefore(owner, best))) best = owner
    return best!
  }

  /** Displaces the last ticket of the owner with most of them, if that one has more than the newcomer would have. */
  #makeRoom(newcomer: Owner, priority: Priority): boolean {
    let longest = newcomer
    for (const owner of this.#owners.values())
      if (backlog(owner) / owner.weight > (backlog(longest) + Number(longest === newcomer)) / longest.weight)
        longest = owner
    const least = priorities.findLast((one) => longest.waiting[one].length > 0)
    if (least === undefined) return false
    const isBelow = priorities.indexOf(least) > priorities.indexOf(priority)
    if (longest === newcomer && !isBelow) return false
    const displaced = longest.waiting[least].pop()!
    displaced.state = 'over'
    this.#waiting -= 1
    displaced.tell('displaced')
    return true
  }

  /** Of more owners than it remembers, those that came first go; what they had used is forgotten with them. */
  #forget(): void {
    for (const owner of this.#owners.values()) {
      if (this.#owners.size <= mostIdle) return
      if (isIdle(owner)) this.#owners.delete(owner.name)
    }
  }
}

const backlog = ({ waiting: { high, normal, low } }: Owner): number =>
  high.length + normal.length + low.length

const isIdle = (owner: Owner): boolean => owner.running === 0 && backlog(owner) === 0

/** The most urgent of what waits. */
const urgency = ({ waiting }: Owner): Priority | undefined =>
  priorities.find((priority) => waiting[priority].length > 0)

function goesBefore(a: Owner, b: Owner): boolean {
  const low = Number(urgency(a) === 'low') - Number(urgency(b) === 'low')
  return (low || a.running / a.weight - b.running / b.weight || a.used - b.used) < 0
}
