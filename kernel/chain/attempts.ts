import type { Call } from '../call/call.ts'
import type { Attempt } from '../call/trace.ts'
import { type Entry, handleFailure } from './entry.ts'

/** Runs something with one entry after the other; a promise only from where one of them takes its time. */
export function inTurn(
  entries: readonly Entry[],
  run: (entry: Entry) => void | Promise<void>,
  from = 0,
): void | Promise<void> {
  for (let i = from; i < entries.length; i += 1) {
    const running = run(entries[i]!)
    if (running) return running.then(() => inTurn(entries, run, i + 1))
  }
}

/** Asks a module about a try at a provider; throws what it refuses with. */
export function askAttempt(
  entry: Entry,
  attempt: Attempt,
  call: Call,
  headers: Record<string, string>,
): void | Promise<void> {
  const refuse = (error: unknown): void => {
    call.cancel.check()
    handleFailure(entry, 'attempt', error, call)
  }
  try {
    const asked: unknown = entry.hooks.attempt!(attempt, call, headers)
    if (asked instanceof Promise) return entry.meter.deadlines.within(asked).catch(refuse)
  } catch (error) {
    refuse(error)
  }
}

/** Tells a module what happened; never throws. */
export function notify(
  { meter }: Entry,
  hook: 'attempted' | 'attemptEnded' | 'settled',
  tell: () => unknown,
): void | Promise<void> {
  const fail = (error: unknown): void => meter.fail(hook, error)
  try {
    const heard = tell()
    if (heard instanceof Promise) return meter.deadlines.within(heard).catch(fail)
  } catch (error) {
    fail(error)
  }
}
