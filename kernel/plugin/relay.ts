import type { EventType } from '../events.ts'

/** Something that can be called here, and what ends its being there. */
export interface Bound<T, R> {
  readonly call: (data: T) => R
  readonly release: () => void
}

/** The relay from the threads of a process to the first of them. */
export interface Relay {
  readonly isFirst: boolean
  /** Whether there is no other thread. */
  readonly isOnly: boolean
  /** Gives a function that runs `run` in the first thread, with a copy of its argument. */
  bind<T>(key: string, run: (data: T) => void): Bound<T, void>
  /**
   * Gives a function that asks the first thread, with undefined as the result when nothing answers there; `from` is the number
   * of the thread that asks.
   */
  bindAnswer<T, R>(key: string, answer: (data: T, from: number) => R): Bound<T, R | Promise<R | undefined>>
  /** Gives a function that runs `run` in every thread. */
  bindEach(key: string, run: () => Promise<void>): { call(): Promise<void>; release(): void }
}

/** Of a process with one thread: what is to run in the first one just runs. */
export const oneThread: Relay = {
  isFirst: true,
  isOnly: true,
  bind: (_, run) => ({ call: run, release: () => {} }),
  bindAnswer: (_, answer) => ({ call: (data) => answer(data, 1), release: () => {} }),
  bindEach: (_, run) => ({ call: run, release: () => {} }),
}

/**
 * Whether an event is of a call, as its name says: listeners get those in the thread that has the call, and all others in the
 * first one.
 */
export const isOfCall = ({ name }: Pick<EventType<unknown>, 'name'>): boolean => name.startsWith('call.')
