/** A value, or a promise of it: what a function gives that takes its time only where it must. */
export type Awaitable<T> = T | Promise<T>

/**
 * Goes on with a value when it is there: at once where it is no promise, so that a call pays for promises only where something
 * takes its time.
 */
export const continueWith = <T, R>(value: Awaitable<T>, next: (value: T) => R): R | Promise<Awaited<R>> =>
  value instanceof Promise ? (value.then(next) as Promise<Awaited<R>>) : next(value)
