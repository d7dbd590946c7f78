import type { Call } from '../call/call.ts'
import type { Reply } from '../call/reply.ts'
import { type Entry, failed } from './entry.ts'
import { redactRequest } from './redact.ts'
import { checkedStep } from './returned.ts'

type Step = Call | Reply | undefined

/** Whether a module has anything for requests. */
export const asks = ({ hooks }: Entry): boolean =>
  hooks.request !== undefined || hooks.detect?.request !== undefined

/**
 * Runs what a module has for requests: the changed call, an answer, or nothing when all stays as it is. `later` are
 * the modules that would detect after it.
 */
export function inspected(entry: Entry, call: Call, later: () => readonly Entry[]): Step | Promise<Step> {
  const started = performance.now()
  const finish = (): void => timed(entry, 'request', started, call)
  try {
    const { detect, request } = entry.hooks
    const seen = detect?.request ? redactRequest(call, entry, later) : call
    const unchanged = seen === call ? undefined : seen
    const result = request ? request(seen) : undefined
    if (result instanceof Promise) {
      return entry.meter.deadlines
        .within(result)
        .then((value) => checkedStep(value, call) ?? unchanged)
        .catch((error) => {
          failed(entry, 'request', error, call)
          return unchanged
        })
        .finally(finish)
    }
    finish()
    return checkedStep(result, call) ?? unchanged
  } catch (error) {
    finish()
    failed(entry, 'request', error, call)
    return undefined
  }
}

function timed(entry: Entry, hook: string, started: number, call: Call): void {
  const ms = performance.now() - started
  entry.meter.run(hook, ms)
  call.trail.timings.push({ module: entry.id, hook, ms })
}
