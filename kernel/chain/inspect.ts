import type { Call } from '../call/call.ts'
import type { Reply } from '../call/reply.ts'
import { looks } from './detector.ts'
import { type Entry, handleFailure, recordRun } from './entry.ts'
import { redactRequest } from './redact.ts'
import { checkedStep } from './returned.ts'

type Step = Call | Reply | undefined

/** The modules that would detect in a call after this one. */
export type Later = (entry: Entry, call: Call) => readonly Entry[]

/** Whether a module has anything for requests. */
export const asks = ({ hooks }: Entry): boolean =>
  hooks.request !== undefined || hooks.detect?.request !== undefined

/**
 * Runs what a module has for requests: the changed call, an answer, or nothing when all stays as it is.
 */
export function inspectRequest(entry: Entry, call: Call, later: Later): Step | Promise<Step> {
  const started = performance.now()
  try {
    const { detect, request } = entry.hooks
    const isSearched = detect?.request && looks(entry, detect.request, call)
    const seen = isSearched ? redactRequest(call, entry, () => later(entry, call)) : call
    const unchanged = seen === call ? undefined : seen
    const result = request ? request(seen) : undefined
    if (result instanceof Promise) {
      return entry.meter.deadlines
        .within(result)
        .then((value) => checkedStep(value, call) ?? unchanged)
        .catch((error) => {
          handleFailure(entry, 'request', error, call)
          return unchanged
        })
        .finally(() => timed(entry, started, call))
    }
    timed(entry, started, call)
    return checkedStep(result, call) ?? unchanged
  } catch (error) {
    timed(entry, started, call)
    handleFailure(entry, 'request', error, call)
    return undefined
  }
}

function timed(entry: Entry, started: number, call: Call): void {
  recordRun(entry, 'request', performance.now() - started, call)
}
