import { contain, detach } from '#kit'

/** Makes the first attempt of a delivery. Resolves with false when it was stopped and has to be made again. */
export type FirstAttempt = (delivery: string) => Promise<boolean>

/** Where deliveries come from that wait for their first attempt, each with its webhook. */
export interface Untried {
  /** Hands over those that are added from now on. Returns what ends that. */
  watch(add: (webhook: string, delivery: string) => void): () => void
  /** Those that wait on disk. */
  waiting(): AsyncIterable<readonly [webhook: string, delivery: string]>
}

/** Enough that receivers which hang leave room for others, and that deliveries share the syncs of the disk. */
const most = 512
const mostPerWebhook = 32
/** So few begin in one turn of the event loop that calls wait for a few milliseconds at most. */
const mostPerTurn = 4

interface Lane {
  readonly waiting: string[]
  running: number
}

/**
 * Deliveries that wait for their first attempt, in the order of their events, some at a time of each webhook. The rows on disk
 * say the same, so nothing is lost with the process. It outlives the instance of the area that made it: the newest one sends.
 */
export class FirstAttempts {
  readonly #lanes = new Map<string, Lane>()
  /** Webhooks whose next delivery may begin, those whose turn is next first. */
  readonly #ready = new Set<string>()
  #running = 0
  #send: FirstAttempt | undefined
  #unwatch: (() => void) | undefined
  /** Those that were added while the ones on disk are read; undefined afterwards. */
  #known: Set<string> | undefined = new Set()
  #isPlanned = false

  /**
   * Has this function make the attempts from now on, instead of another one. Resolves when all that waits is known, with what
   * ends it: what comes then waits for the next one.
   */
  async sendBy(send: FirstAttempt, { watch, waiting }: Untried): Promise<() => void> {
    this.#unwatch?.()
    const unwatch = watch((webhook, delivery) => this.#add(webhook, delivery))
    this.#unwatch = unwatch
    this.#send = send
    this.#plan()
    if (this.#known) for await (const [webhook, delivery] of waiting()) this.#add(webhook, delivery)
    this.#known = undefined
    return () => {
      unwatch()
      if (this.#send === send) this.#send = undefined
    }
  }

  #add(webhook: string, delivery: string): void {
    if (this.#known?.has(delivery)) return
    this.#known?.add(delivery)
    this.#laneOf(webhook).waiting.push(delivery)
    this.#look(webhook)
  }

  #laneOf(webhook: string): Lane {
    const lane = this.#lanes.get(webhook) ?? { waiting: [], running: 0 }
    this.#lanes.set(webhook, lane)
    return lane
  }

  /** Notes whether a webhook has something to send, and room. */
  #look(webhook: string): void {
    const lane = this.#laneOf(webhook)
    if (lane.waiting.length > 0 && lane.running < mostPerWebhook) this.#ready.add(webhook)
    else this.#ready.delete(webhook)
    if (lane.waiting.length === 0 && lane.running === 0) this.#lanes.delete(webhook)
    this.#plan()
  }

  #plan(): void {
    if (this.#isPlanned || !this.#send || this.#ready.size === 0 || this.#running >= most) return
    this.#isPlanned = true
    setImmediate(
      contain('the first attempts of deliveries', () => {
        this.#isPlanned = false
        this.#begin()
        this.#plan()
      }),
    )
  }

  #begin(): void {
    for (let begun = 0; begun < mostPerTurn && this.#running < most; begun += 1) {
      const [webhook] = this.#ready
      if (webhook === undefined || !this.#send) return
      const lane = this.#laneOf(webhook)
      const delivery = lane.waiting.shift()!
      lane.running += 1
      this.#running += 1
      // At the end of the row, so that each webhook has its turn.
      this.#ready.delete(webhook)
      this.#look(webhook)
      detach('the first attempt of a delivery', this.#attempt(this.#send, webhook, delivery))
    }
  }

  async #attempt(send: FirstAttempt, webhook: string, delivery: string): Promise<void> {
    let isMade = true
    try {
      isMade = await send(delivery)
    } finally {
      const lane = this.#laneOf(webhook)
      if (!isMade) lane.waiting.unshift(delivery)
      lane.running -= 1
      this.#running -= 1
      this.#look(webhook)
    }
  }
}
