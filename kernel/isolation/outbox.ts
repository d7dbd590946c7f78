import { contain } from '../contain.ts'

/** Messages to the other side: those of one turn of the event loop cross together. */
export class Outbox<M> {
  readonly #post: (messages: readonly M[]) => void
  readonly #refused: (message: M) => void
  #messages: M[] = []

  /** `post` throws for what cannot cross; such a message goes to `refused`, and keeps no other one back. */
  constructor(post: (messages: readonly M[]) => void, refused: (message: M) => void) {
    this.#post = post
    this.#refused = refused
  }

  add(message: M): void {
    this.#messages.push(message)
    if (this.#messages.length === 1) setImmediate(this.#flush)
  }

  /** Forgets what gathered. */
  clear(): void {
    this.#messages = []
  }

  readonly #flush = contain('messages between a module and the gateway', (): void => {
    const messages = this.#messages
    this.#messages = []
    if (messages.length === 0) return
    try {
      this.#post(messages)
    } catch {
      for (const message of messages) this.#postAlone(message)
    }
  })

  #postAlone(message: M): void {
    try {
      this.#post([message])
    } catch {
      this.#refused(message)
    }
  }
}
