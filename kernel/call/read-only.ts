import { deepFreeze } from '../../kit/json/deep-freeze.ts'
import type { Attempt } from './attempt.ts'
import type { Trace } from './trace.ts'

const refuse = (): boolean => false
const refuseAll: ProxyHandler<object> = {
  set: refuse,
  defineProperty: refuse,
  deleteProperty: refuse,
  setPrototypeOf: refuse,
}

/** The fields that a module may set on an attempt and on a trace. */
const settable: ReadonlySet<unknown> = new Set<keyof Attempt | keyof Trace>(['reasonNext', 'cached', 'body'])

const setSome: ProxyHandler<object>['set'] = (target, field, value) =>
  settable.has(field) && Reflect.set(target, field, value)

const attemptHandler: ProxyHandler<Attempt> = {
  ...refuseAll,
  set: setSome,
  get: (attempt, field: keyof Attempt) => deepFreeze(attempt[field]),
}

/** One view of each attempt, so that a plugin finds the one it was handed among those of the trace. */
const views = new WeakMap<Attempt, Attempt>()

/** An attempt as it is at any time, of which nothing can be set but why another one followed. */
export function readOnlyAttempt(attempt: Attempt): Attempt {
  const view = views.get(attempt) ?? new Proxy(attempt, attemptHandler)
  views.set(attempt, view)
  return view
}

const traceHandler: ProxyHandler<Trace> = {
  ...refuseAll,
  set: setSome,
  get(trace, field: keyof Trace) {
    const value: unknown = trace[field]
    if (field === 'mayRecord' || field === 'answeredBy' || field === 'begin') return readOnly
    if (field === 'attempts') return Object.freeze(trace.attempts.map(readOnlyAttempt))
    if (field === 'facts') return value
    if (field === 'served') return trace.served && readOnlyAttempt(trace.served)
    if (typeof value === 'function') return value.bind(trace)
    // The kernel goes on writing these, so a plugin gets them as they are now.
    if (Array.isArray(value)) return deepFreeze(field === 'rewrites' ? [...value] : structuredClone(value))
    return deepFreeze(field === 'headers' ? { ...trace.headers } : value)
  },
}

function readOnly(): never {
  throw new TypeError('Cannot assign to read only property')
}

/** A trace that can be added to by its methods, and of which nothing that is there can be changed. */
export const readOnlyTrace = (trace: Trace): Trace => new Proxy(trace, traceHandler)
