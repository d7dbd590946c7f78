type Listener = (origin: string, error: unknown) => void

const listeners = new Set<Listener>()

/**
 * Tells a listener of what is contained from now on: where it was, and what was thrown. Returns what ends that. While
 * nothing listens, Node warns instead.
 */
export function onContained(listener: Listener): () => void {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

/**
 * Work for Node to call: by a timer, for an event, for a message. An error that it throws, or rejects with, goes to
 * `onContained`'s listeners with its origin and no further, since there it would end the process.
 */
export function contain<A extends readonly unknown[]>(
  origin: string,
  work: (...args: A) => unknown,
): (...args: A) => void {
  return (...args) => {
    try {
      const result = work(...args)
      if (result instanceof Promise) detach(origin, result)
    } catch (error) {
      tellContained(origin, error)
    }
  }
}

/** Lets a promise go on alone: a rejection is reported with its origin. */
export function detach(origin: string, promise: Promise<unknown>): void {
  promise.catch((error: unknown) => tellContained(origin, error))
}

/** Reports an error that was caught where no caller could receive it. */
export function tellContained(origin: string, error: unknown): void {
  if (listeners.size === 0) process.emitWarning(error instanceof Error ? error : String(error))
  for (const listener of listeners) {
    try {
      listener(origin, error)
    } catch {
      // The log itself failed, so the error cannot be reported.
    }
  }
}
