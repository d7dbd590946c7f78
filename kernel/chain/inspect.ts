import type { Call } from '../call/call.ts'
import type { Reply } from '../call/reply.ts'
import { looks } from './detector.ts'
import { type Entry, handleFailure, recordRun } from './entry.ts'
import { type Later, redactRequest } from './redact.ts'
import { checkedStep } from './returned.ts'

type Step = Call | Reply | undefined

/** Whether a module has anything for requests. */
export const asks = ({ hooks }: Entry): boolean =>
  hooks.request !== undefined || hooks.detect?.request !== undefined

/**
 * Runs what a module has for requests: the changed call, an answer, or nothing when all stays as it is. A promise where its hook
 * gives one, or where it has much to search.
 */
export function inspectRequest(entry: Entry, call: Call, later: Later): Step | Promise<Step> {
  const started = performance.now()
  try {
    const { detect, request } = entry.hooks
    const isSearched = detect?.request && looks(entry, detect.request, call)
    const seen = isSearched ? redactRequest(call, entry, later) : call
    if (seen instanceof Promise) return awaitSearch(entry, call, seen)
    const result = request ? request(seen) : undefined
    if (result instanceof Promise) return awaitStep(entry, call, seen, result, started)
    const step = checkedStep(result, call) ?? changed(call, seen)
    timed(entry, started, call)
    return step
  } catch (error) {
    timed(entry, started, call)
    handleFailure(entry, 'request', error, call)
    return undefined
  }
}

async function awaitSearch(entry: Entry, call: Call, search: Promise<Call>): Promise<Step> {
  const seen = await search.catch((error: unknown) => handleFailure(entry, 'request', error, call))
  const { request } = entry.hooks
  if (!seen || !request) return seen ? changed(call, seen) : undefined
  return awaitStep(entry, call, seen, (async () => request(seen))(), performance.now())
}

/** Apart, as a function that holds closures costs each call a context, also where nothing takes its time. */
async function awaitStep(
  entry: Entry,
  call: Call,
  seen: Call,
  result: Promise<unknown>,
  started: number,
): Promise<Step> {
  try {
    return checkedStep(await entry.meter.deadlines.within(result), call) ?? changed(call, seen)
  } catch (error) {
    handleFailure(entry, 'request', error, call)
    return changed(call, seen)
  } finally {
    timed(entry, started, call)
  }
}

const changed = (call: Call, seen: Call): Call | undefined => (seen === call ? undefined : seen)

function timed(entry: Entry, started: number, call: Call): void {
  recordRun(entry, 'request', performance.now() - started, call)
}
