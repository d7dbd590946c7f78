import { type Awaitable, Countdowns, type OnceContext, ThreadEnded } from '#kernel'
import { ApprovalDecided, ApprovalRequested, byTime, type Held, type Preview, type Verdict } from './held.ts'

/** A call whose client waits, as plain data. */
export interface WaitingCall {
  readonly held: Held
  readonly preview: Preview
  readonly onTimeout: 'allow' | 'deny'
  readonly mostPending: number
}

interface Entry extends WaitingCall {
  readonly thread: number
  readonly decide: (verdict: Verdict) => void
}

/** The calls of all threads whose clients wait, in the memory of the first one. They end with the process, as their clients do. */
export class Waiting {
  /** Resolves when the call is decided. Undefined when there is no room for it, or the module is gone. */
  readonly enter: (call: WaitingCall) => Awaitable<Verdict | undefined>
  /** Forgets a call whose client has left. */
  readonly leave: (id: string) => void
  readonly #entries = new Map<string, Entry>()
  readonly #countdowns = new Countdowns()
  readonly #context: OnceContext

  constructor(context: OnceContext) {
    this.#context = context
    this.enter = context.askFirstThread(
      'enter',
      (call: WaitingCall, thread): Awaitable<Verdict | undefined> => this.#enter(call, thread),
    ) as Waiting['enter']
    this.leave = context.inFirstThread('leave', (id: string) => void this.#entries.delete(id))
    context.on(ThreadEnded, (ended) => {
      for (const [id, { thread }] of this.#entries) if (thread === ended.thread) this.#entries.delete(id)
    })
  }

  /** For the first thread. */
  get all(): readonly WaitingCall[] {
    return [...this.#entries.values()]
  }

  /** For the first thread. */
  get(id: string): WaitingCall | undefined {
    return this.#entries.get(id)
  }

  /** For the first thread. False when no such call waits. */
  decide(id: string, verdict: Verdict): boolean {
    const entry = this.#entries.get(id)
    if (!entry) return false
    this.#entries.delete(id)
    entry.decide(verdict)
    this.#context.emit(ApprovalDecided, { id, ...verdict })
    return true
  }

  #enter(call: WaitingCall, thread: number): Awaitable<Verdict | undefined> {
    const { held, onTimeout, mostPending } = call
    if (this.#entries.size >= mostPending) return undefined
    const { promise, resolve } = Promise.withResolvers<Verdict>()
    const late = this.#countdowns.make(() =>
      this.decide(held.id, { approved: onTimeout === 'allow', by: byTime }),
    )
    late.set(Date.parse(held.expires_at) - Date.parse(held.created_at))
    const decide = (verdict: Verdict): void => {
      late.clear()
      resolve(verdict)
    }
    this.#entries.set(held.id, { ...call, thread, decide })
    this.#context.emit(ApprovalRequested, held)
    return promise
  }
}
