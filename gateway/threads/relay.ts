import { type SentEvent, sentOf } from '../../kernel/events/happening.ts'
import type { Occurrence } from '../../kernel/events.ts'
import { ModuleChanged } from '../../kernel/plugin/module-events.ts'
import { type Bound, isOfCall, type Relay } from '../../kernel/plugin/relay.ts'
import { LastAdded } from '../../kit/last-added.ts'
import { contain } from '../../kit/work/contain.ts'

/** A message of another thread to the first one: data for a function, or an event. */
export type Relayed = { readonly key: string; readonly data: unknown } | { readonly event: SentEvent }

type Answer = (data: unknown, from: number) => unknown

/** The first thread's end: does what the others want. */
export class FirstRelay implements Relay {
  readonly isFirst = true
  readonly isOnly = false
  readonly #answers = new LastAdded<Answer>()
  readonly #each = new LastAdded<() => Promise<void>>()
  /** Runs in the other threads what they have under a key; set by the code that starts them. */
  runInOthers: (key: string) => Promise<void> = async () => {}

  bind<T>(key: string, run: (data: T) => void): Bound<T, void> {
    return { call: run, release: this.bindAnswer(key, run).release }
  }

  bindAnswer<T, R>(key: string, answer: (data: T, from: number) => R): Bound<T, R> {
    const release = this.#answers.add(key, (data, from) => answer(data as T, from))
    return { call: (data) => answer(data, 1), release }
  }

  bindEach(key: string, run: () => Promise<void>): { call(): Promise<void>; release(): void } {
    const call = async (): Promise<void> => {
      await Promise.all([this.#each.get(key)?.(), this.runInOthers(key)])
    }
    const releases = [this.#each.add(key, run), this.#answers.add(key, call)]
    return { call, release: () => releases.forEach((release) => void release()) }
  }

  /** Undefined if its receiver is gone. */
  answer(key: string, data: unknown, from: number): unknown {
    return this.#answers.get(key)?.(data, from)
  }
}

/** Passes events that happen here, and whose listeners are in the first thread, on to that thread. */
export const relayEvents =
  (relay: ThreadRelay) =>
  (occurrence: Occurrence): void => {
    if (isOfCall(occurrence.type) || occurrence.type.name === ModuleChanged.name) return
    relay.add({ event: sentOf(occurrence) })
  }

/** Milliseconds that something may wait for more. */
const batchMs = 20

interface Onward {
  readonly tell: (batch: readonly Relayed[]) => void
  readonly ask: (key: string, data: unknown) => Promise<unknown>
}

/** The end of another thread: sends what is to be done, several things together, and asks at once. */
export class ThreadRelay implements Relay {
  readonly isFirst = false
  readonly isOnly = false
  readonly #onward: Onward
  readonly #each = new LastAdded<() => Promise<void>>()
  #waiting: Relayed[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(onward: Onward) {
    this.#onward = onward
  }

  bind<T>(key: string): Bound<T, void> {
    return { call: (data) => this.add({ key, data }), release: () => {} }
  }

  bindAnswer<T, R>(key: string): Bound<T, Promise<R | undefined>> {
    return { call: (data) => this.#onward.ask(key, data) as Promise<R | undefined>, release: () => {} }
  }

  bindEach(key: string, run: () => Promise<void>): { call(): Promise<void>; release(): void } {
    const release = this.#each.add(key, run)
    return { call: async () => void (await this.#onward.ask(key, undefined)), release }
  }

  /** Runs what is bound to a key in this thread. */
  async run(key: string): Promise<void> {
    await this.#each.get(key)?.()
  }

  add(relayed: Relayed): void {
    this.#waiting.push(relayed)
    this.#timer ??= setTimeout(
      contain('sending to the first thread', () => this.flush()),
      batchMs,
    ).unref()
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const batch = this.#waiting
    this.#waiting = []
    if (batch.length > 0) this.#onward.tell(batch)
  }
}
