import { type Awaitable, Countdowns, newId, type OnceContext, ThreadEnded } from '#kernel'
import { ensure, type Priority } from '#kit'
import { FairQueue, type QueueBounds, type Ticket, type Word } from './fair-queue.ts'

/** A request for a slot, as plain data. */
export interface TurnRequest extends QueueBounds {
  readonly id: string
  /** The module or the binding that bounds the provider or model. */
  readonly configuration: string
  /** The provider or model. */
  readonly target: string
  readonly owner: string
  readonly weight: number
  readonly priority: Priority
  readonly longestWaitMs: number
}

export type Turn =
  | { readonly granted: true; readonly hasWaited: boolean }
  | {
      readonly granted: false
      readonly reason: 'queue_full' | 'waited_too_long'
      /** Milliseconds after which another try makes sense. */
      readonly retryMs: number
      readonly waiting: number
    }

export interface QueueFacts extends Pick<FairQueue, 'running' | 'waiting' | 'owners'> {
  readonly configuration: string
  readonly target: string
  readonly concurrency: number
}

interface Entry {
  readonly ticket: Ticket
  readonly queue: FairQueue
  readonly lane: string
  readonly thread: number
  /** Ends the wait of a call that is over. */
  readonly drop: () => void
}

/** The queues of all threads, which are in the first one: slots are counted, and turns given, for all of them together. */
export class Turns {
  /** Resolves when it is the ticket's turn, or never will be. Undefined where the queues are gone. */
  readonly enter: (request: TurnRequest) => Awaitable<Turn | undefined>
  /** Gives back a slot or a place in the queue; of an unknown id, nothing. */
  readonly leave: (id: string) => void
  readonly #queues = new Map<string, FairQueue>()
  readonly #entries = new Map<string, Entry>()
  readonly #countdowns = new Countdowns()
  readonly #prefix = newId('turn')
  #count = 0

  constructor({ askFirstThread, inFirstThread, on }: OnceContext) {
    this.enter = askFirstThread(
      'enter',
      (request: TurnRequest, thread): Awaitable<Turn> => this.#enter(request, thread),
    ) as Turns['enter']
    this.leave = inFirstThread('leave', (id: string) => this.#leave(id))
    on(ThreadEnded, (ended) => {
      for (const [id, { thread }] of this.#entries) if (thread === ended.thread) this.#leave(id)
    })
  }

  /** The queues that have a ticket, for the first thread. */
  get queues(): QueueFacts[] {
    return Array.from(this.#queues, ([lane, { most, running, waiting, owners }]) => {
      const [configuration = '', ...target] = lane.split(' ')
      return { configuration, target: target.join(' '), concurrency: most, running, waiting, owners }
    })
  }

  /** An id that no other ticket has, in any thread. */
  nextId(): string {
    this.#count += 1
    return `${this.#prefix}${this.#count}`
  }

  #enter(request: TurnRequest, thread: number): Awaitable<Turn> {
    const { id, configuration, target, owner, weight, priority, longestWaitMs } = request
    const lane = `${configuration} ${target}`
    const queue = ensure(this.#queues, lane, () => new FairQueue(request))
    const { promise, resolve } = Promise.withResolvers<Turn>()
    const refuse = (reason: 'queue_full' | 'waited_too_long'): Turn => {
      this.#entries.delete(id)
      return { granted: false, reason, retryMs: queue.retryMs, waiting: queue.waiting }
    }
    const late = this.#countdowns.make(() => {
      queue.leave(ticket, performance.now())
      resolve(refuse('waited_too_long'))
    })
    const tell = (word: Word): void => {
      late.clear()
      resolve(word === 'turn' ? { granted: true, hasWaited: true } : refuse('queue_full'))
    }
    const ticket: Ticket = { owner, weight, priority, tell, state: 'waiting', since: 0 }
    if (!queue.enter(ticket, request, performance.now())) return refuse('queue_full')
    this.#entries.set(id, { ticket, queue, lane, thread, drop: () => tell('turn') })
    if (ticket.state === 'running') return { granted: true, hasWaited: false }
    late.set(longestWaitMs)
    return promise
  }

  #leave(id: string): void {
    const entry = this.#entries.get(id)
    if (!entry) return
    this.#entries.delete(id)
    const { ticket, queue, lane, drop } = entry
    queue.leave(ticket, performance.now())
    drop()
    if (queue.running === 0 && queue.waiting === 0) this.#queues.delete(lane)
  }
}
