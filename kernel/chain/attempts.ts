import type { Attempt } from '../call/attempt.ts'
import type { Call } from '../call/call.ts'
import type { ChainHooks } from './batches.ts'
import { applies, type Entry, handleFailure } from './entry.ts'
import type { Meter } from './meter.ts'

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
  try {
    const asked: unknown = entry.hooks.attempt!(attempt, call, headers)
    if (asked instanceof Promise) return awaitAnswer(entry, asked, call)
  } catch (error) {
    refuse(entry, error, call)
  }
}

/** Apart, as a function that holds a closure costs each call a context, also where nothing takes its time. */
const awaitAnswer = (entry: Entry, asked: Promise<void>, call: Call): Promise<void> =>
  entry.meter.deadlines.within(asked).catch((error) => refuse(entry, error, call))

function refuse(entry: Entry, error: unknown, call: Call): void {
  call.cancel.check()
  handleFailure(entry, 'attempt', error, call)
}

type Telling = 'attempted' | 'attemptEnded' | 'settled'

/** Tells all that have a hook what happened to a call. Failures are metered and go nowhere else. A promise as with `inTurn`. */
export const tellAll = <H extends Telling>(
  entries: readonly Entry[],
  hook: H,
  told: Parameters<NonNullable<ChainHooks[H]>>[0],
  call: Call,
): void | Promise<void> =>
  inTurn(entries, (entry) => {
    if (applies(entry, call)) return tell(entry, hook, told, call)
  })

function tell({ hooks, meter }: Entry, hook: Telling, told: unknown, call: Call): void | Promise<void> {
  try {
    const heard = (hooks[hook] as (told: unknown, call: Call) => unknown)(told, call)
    if (heard instanceof Promise) return awaitHeard(meter, hook, heard)
  } catch (error) {
    meter.fail(hook, error)
  }
}

const awaitHeard = (meter: Meter, hook: Telling, heard: Promise<void>): Promise<void> =>
  meter.deadlines.within(heard).catch((error) => meter.fail(hook, error))
