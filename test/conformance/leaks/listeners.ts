import { EventEmitter, getEventListeners } from 'node:events'

type Method = (this: object, event: string | symbol, ...rest: unknown[]) => unknown

interface Touched {
  readonly before: number
  /** In which cycles listeners were added. */
  readonly cycles: Set<number>
}

/** Listeners that were added since to what outlives a plugin: the process, and whatever was there in several cycles. */
export class Listeners {
  /** The number of the cycle that runs. */
  cycle = 0
  readonly #touched = new Map<object, Map<string | symbol, Touched>>()
  readonly #restores: (() => void)[] = []

  constructor() {
    for (const name of ['on', 'addListener', 'prependListener']) this.#watch(EventEmitter.prototype, name)
    this.#watch(EventTarget.prototype, 'addEventListener')
  }

  /** What is left, in words. */
  left(): string[] {
    return [...this.#touched].flatMap(([emitter, events]) =>
      [...events].flatMap(([event, { before, cycles }]) => {
        const more = countOf(emitter, event) - before
        const shared = emitter === process || cycles.size > 1
        return shared && more >= cycles.size
          ? [`listeners stay on ${nameOf(emitter)} for ${String(event)}`]
          : []
      }),
    )
  }

  stop(): void {
    for (const restore of this.#restores) restore()
  }

  #watch(prototype: object, name: string): void {
    const method = Reflect.get(prototype, name) as Method
    const note = (emitter: object, event: string | symbol): void => this.#note(emitter, event)
    const noting: Method = function (event, ...rest) {
      note(this, event)
      return method.call(this, event, ...rest)
    }
    Reflect.set(prototype, name, noting)
    this.#restores.push(() => Reflect.set(prototype, name, method))
  }

  #note(emitter: object, event: string | symbol): void {
    const events = this.#touched.get(emitter) ?? new Map<string | symbol, Touched>()
    this.#touched.set(emitter, events)
    const touched = events.get(event) ?? { before: countOf(emitter, event), cycles: new Set<number>() }
    events.set(event, touched)
    touched.cycles.add(this.cycle)
  }
}

const countOf = (emitter: object, event: string | symbol): number =>
  getEventListeners(emitter as EventTarget, String(event)).length

const nameOf = (emitter: object): string =>
  emitter === process ? 'process' : (emitter.constructor?.name ?? 'an emitter')
