import { closest } from 'fastest-levenshtein'
import type { Completion } from '../../kit/canonical/forms.ts'
import { HookFault } from '../../kit/hook-fault.ts'
import type { Call } from '../call/call.ts'
import { findingTypes, severities } from '../call/findings.ts'
import type { Reply } from '../call/reply.ts'
import type { Span } from '../detect/detect.ts'
import type { Filter } from '../stream/filter.ts'
import type { Hooks } from './hooks.ts'

const functions = [
  'idle',
  'admit',
  'request',
  'around',
  'wraps',
  'varies',
  'eligible',
  'prefers',
  'attempt',
  'attempted',
  'attemptEnded',
  'reply',
  'settled',
] as const

export const hookNames: readonly string[] = [...functions, 'stream', 'detect', 'reveal', 'show', 'pure']

const shown = ['body', 'stream', 'error', 'headers']

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The hooks that a setup returned, if it returned any. Throws a readable error that names each invalid hook. */
export function checkedHooks(returned: unknown): Hooks {
  if (returned === undefined || returned === null) return {}
  if (!isObject(returned)) throw new Error(`setup must return hooks, and returned ${nameOf(returned)}`)
  for (const hook of functions) {
    const value = returned[hook]
    if (value !== undefined && typeof value !== 'function')
      throw new Error(`the hook ${hook} must be a function, and is ${nameOf(value)}`)
  }
  const unknown = Object.keys(returned).find((name) => !hookNames.includes(name))
  if (unknown !== undefined)
    throw new Error(`unknown hook ${unknown}; the nearest is ${closest(unknown, hookNames)}`)
  const { stream, reply, reveal, detect, show } = returned
  if (stream !== undefined && stream !== 'buffer' && typeof stream !== 'function')
    throw new Error(`the hook stream must be a function or 'buffer', and is ${nameOf(stream)}`)
  if (reply !== undefined && stream === undefined)
    throw new Error(
      "a module with the hook reply must handle streams: add stream as a function or as 'buffer'",
    )
  if (show !== undefined) checkShow(show)
  if (detect !== undefined && !isObject(detect)) throw new Error('the hook detect must be an object')
  const both = (detect ?? {}) as Record<string, unknown>
  for (const detection of [both.request, both.reply, reveal]) {
    if (detection === undefined) continue
    if (!isObject(detection) || typeof detection.scan !== 'function' || typeof detection.reach !== 'number')
      throw new Error('a detection must have scan, a function, and reach, a number')
  }
  return returned as Hooks
}

function checkShow(show: unknown): void {
  if (!isObject(show)) throw new Error('the hook show must be an object')
  for (const [name, value] of Object.entries(show)) {
    if (!shown.includes(name)) throw new Error(`show has no ${name}; the nearest is ${closest(name, shown)}`)
    if (value !== undefined && typeof value !== 'function')
      throw new Error(`show.${name} must be a function, and is ${nameOf(value)}`)
  }
  if (show.body !== undefined && show.stream === undefined)
    throw new Error('a module that shows another body must say what happens to streams: add show.stream')
}

/** A call or an answer, if that is what a hook returned. */
export function checkedStep(returned: unknown, call: Call): Call | Reply | undefined {
  if (returned === undefined || returned === null) return undefined
  if (isReply(returned)) return returned
  const { trace, request } = returned as Partial<Call>
  if (trace === call.trace && typeof request?.model === 'string') return returned as Call
  throw new HookFault(`expected a call, an answer or nothing, got ${nameOf(returned)}`)
}

export function checkedReply(returned: unknown): Reply {
  if (isReply(returned)) return returned
  throw new HookFault(`expected an answer, got ${nameOf(returned)}`)
}

/** The body of an answer, if that is what a hook returned. */
export function checkedBody(returned: unknown, before: Completion): Completion {
  if (returned === undefined || returned === null || returned === before) return before
  const choices = isObject(returned) && !(returned instanceof Promise) ? returned.choices : null
  if (choices === undefined || (Array.isArray(choices) && choices.every(isObject)))
    return returned as Completion
  throw new HookFault(`expected the body of an answer or nothing, got ${nameOf(returned)}`)
}

export function checkedFilter(returned: unknown): Filter | undefined {
  if (returned === undefined || returned === null) return undefined
  if (isObject(returned) && typeof returned.push === 'function') return returned as unknown as Filter
  throw new HookFault(`expected a filter (push and end) or nothing, got ${nameOf(returned)}`)
}

const actions: ReadonlySet<unknown> = new Set(['replace', 'block', 'note', 'log'])

/** The findings in a text from an index on, if all of them are some: a guard that says nonsense has not looked. */
export function checkedSpans(returned: unknown, length: number, from: number): readonly Span[] {
  if (!Array.isArray(returned)) throw new HookFault(`expected a list of findings, got ${nameOf(returned)}`)
  let at = from
  for (const span of returned) {
    if (!Number.isInteger(span?.start) || !Number.isInteger(span.end) || !actions.has(span.action))
      throw new HookFault('expected findings with start, end and action')
    const { start, end, replacement } = span as Span
    if (end <= start) throw new HookFault(`a finding ends at ${end}, where it starts or before (${start})`)
    if (start < at || end > length) {
      throw new HookFault(
        `a finding is at ${start} to ${end}: expected findings between ${at} and ${length}, in order and without overlap`,
      )
    }
    if (replacement !== undefined && typeof replacement !== 'string')
      throw new HookFault(`expected a text as replacement, got ${nameOf(replacement)}`)
    if (!isTold(span))
      throw new HookFault('expected a severity, a type, a ruleId and a confidence as findings have them')
    at = end
  }
  return returned
}

/** Whether the details of a span can be recorded in the trace. */
const isTold = ({ severity, type, ruleId = '', confidence = 0 }: Span): boolean =>
  (severity === undefined || severities.includes(severity)) &&
  (type === undefined || findingTypes.includes(type)) &&
  typeof ruleId === 'string' &&
  confidence >= 0 &&
  confidence <= 1

/** An index into a text or one past its ends, if it is one. */
export function checkedIndex(returned: unknown): number {
  if (Number.isInteger(returned) || Math.abs(Number(returned)) === Number.POSITIVE_INFINITY)
    return returned as number
  throw new HookFault(`expected an index, got ${nameOf(returned)}`)
}

function isReply(value: unknown): value is Reply {
  const { kind, chunks } = (value ?? {}) as { kind?: unknown; chunks?: unknown }
  return kind === 'whole' || (kind === 'stream' && typeof chunks === 'object' && chunks !== null)
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
