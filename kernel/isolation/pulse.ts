import { contain } from '../contain.ts'

/** Looks for a sign of life of who is waited for. */
export class Pulse {
  readonly #limitMs: number
  readonly #isAwaited: () => boolean
  readonly #ping: () => void
  readonly #dead: () => void
  #timer: NodeJS.Timeout | undefined
  #pingedAt: number | undefined

  /** `dead` is called when no `beat` has followed a `ping` for so many milliseconds. */
  constructor(limitMs: number, isAwaited: () => boolean, ping: () => void, dead: () => void) {
    this.#limitMs = limitMs
    this.#isAwaited = isAwaited
    this.#ping = ping
    this.#dead = dead
  }

  /** Looks again and again, until `stop` or until nothing is waited for. */
  watch(): void {
    this.#timer ??= setInterval(
      contain('the pulse of a worker', () => this.#look()),
      Math.ceil(this.#limitMs / 2),
    ).unref()
  }

  beat(): void {
    this.#pingedAt = undefined
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#pingedAt = undefined
  }

  #look(): void {
    if (!this.#isAwaited()) this.stop()
    else if (this.#pingedAt === undefined) {
      this.#pingedAt = performance.now()
      this.#ping()
    } else if (performance.now() - this.#pingedAt >= this.#limitMs) this.#dead()
  }
}
