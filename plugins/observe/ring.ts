/** Something that happened, for live views. */
export interface Happening {
  readonly event: string
  /** The user that sees it; `null` for all users, undefined for admins only. */
  readonly userId: string | null | undefined
  /** The user whose words it repeats, where that is another one. */
  readonly sourceUserId?: string | undefined
  /** Built when a viewer needs it. */
  readonly data: () => unknown
}

/** How long after the last viewer left things are still kept, for when it comes back. */
const lingerMs = 10 * 60_000

/**
 * The last things that happened, numbered from 1, as long as there are viewers. Plain data, so that it can outlive the code
 * that fills it.
 */
export interface Ring {
  /** Tells this process's numbers from those of the one before it. */
  readonly run: string
  readonly size: number
  slots: (Happening | undefined)[]
  last: number
  /** How many look at it right now. */
  viewers: number
  /** When the last of them left, in milliseconds since the epoch. */
  leftAt: number
  /** Called, and forgotten, when something happens. */
  waiting: Set<() => void>
}

export const newRing = (size: number): Ring => ({
  run: Date.now().toString(36),
  size,
  slots: [],
  last: 0,
  viewers: 0,
  leftAt: 0,
  waiting: new Set(),
})

/**
 * Adds a happening, and forgets those beyond the length of the ring. While no client listens, it is counted and not even made,
 * since some happen with every call.
 */
export function publish(ring: Ring, make: () => Happening): void {
  ring.last += 1
  if (ring.viewers === 0 && Date.now() - ring.leftAt > lingerMs) {
    if (ring.slots.length > 0) ring.slots = []
    return
  }
  ring.slots[ring.last % ring.size] = make()
  if (ring.waiting.size === 0) return
  const { waiting } = ring
  ring.waiting = new Set()
  for (const wake of waiting) wake()
}

/** Forgets what a user alone saw, and what repeats that user's words; the other things keep their numbers. */
export function forget(ring: Ring, userId: string): void {
  ring.slots = ring.slots.map((slot) =>
    slot?.userId === userId || slot?.sourceUserId === userId ? undefined : slot,
  )
}

/** The happening with this number; undefined when it is forgotten or has not happened. */
export const happeningAt = (ring: Ring, n: number): Happening | undefined =>
  n > ring.last - ring.size && n > 0 && n <= ring.last ? ring.slots[n % ring.size] : undefined

/** The oldest number that is still there. */
export const oldest = (ring: Ring): number => Math.max(1, ring.last - ring.size + 1)

export const idOf = (ring: Ring, n: number): string => `${ring.run}-${n}`

/**
 * The number to go on with after the event of this id: the oldest there is when what followed it is forgotten or
 * belonged to another process, the next to come without an id.
 */
export function resumeAt(ring: Ring, id: string | undefined): number {
  if (id === undefined || id === '') return ring.last + 1
  const [run, n] = id.split('-')
  const next = Number(n) + 1
  const known = run === ring.run && Number.isInteger(next) && next >= oldest(ring) && next <= ring.last + 1
  return known ? next : oldest(ring)
}
