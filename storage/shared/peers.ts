import { joinName } from '../names.ts'
import type { CounterStep, OpenPart, StoreNews } from './messages.ts'

export type Tell = (news: StoreNews) => Promise<unknown>

/** The threads that have counters open, and receive the changes of others. */
export interface Counting {
  readonly path: string
  tell(steps: readonly CounterStep[]): void
}

/** How long a thread may take to answer before the others go on without it, in milliseconds. */
const patienceMs = 5_000

/** The threads that share one store: each learns of the changes of the others. */
export class Peers {
  readonly #threads = new Set<Tell>()
  readonly #counting = new Set<Counting>()
  /** News of writes that are not confirmed, by what was written. */
  readonly #unheard = new Map<string, Set<Promise<unknown>>>()

  add(tell: Tell): void {
    this.#threads.add(tell)
  }

  delete(tell: Tell): void {
    this.#threads.delete(tell)
  }

  /** Sends a message to all threads, or all but one; resolves when each has received it, is gone, or does not answer. */
  async tellAll(news: StoreNews, except?: Tell): Promise<void> {
    const told = [...this.#threads].filter((tell) => tell !== except).map((tell) => tell(news))
    if (told.length > 0) await inPatience(told)
  }

  count(counting: Counting): void {
    this.#counting.add(counting)
  }

  discount(counting: Counting): void {
    this.#counting.delete(counting)
  }

  /** Sends its changes to the other threads that count under its path. */
  counted(by: Counting, steps: readonly CounterStep[]): void {
    for (const other of this.#counting) if (other !== by && other.path === by.path) other.tell(steps)
  }

  /** Remembers that a message about a write is under way. */
  note(written: string, told: Promise<unknown>): void {
    const unheard = this.#unheard.get(written) ?? new Set()
    this.#unheard.set(written, unheard.add(told))
    const heard = (): void => {
      unheard.delete(told)
      if (unheard.size === 0) this.#unheard.delete(written)
    }
    told.then(heard, heard)
  }

  /** Resolves when all threads have received the writes to it, have ended, or do not answer. */
  async heard(written: string): Promise<void> {
    const unheard = this.#unheard.get(written)
    if (unheard) await inPatience([...unheard])
  }
}

/** The names that a part is under, joined. */
export const pathOf = ({ path, name }: OpenPart): string => joinName(path.join('/'), name)

async function inPatience(told: readonly Promise<unknown>[]): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, patienceMs)
  await Promise.race([Promise.allSettled(told), late.promise])
  clearTimeout(timer)
}
