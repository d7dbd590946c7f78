import type { Completion } from '../../kit/canonical/forms.ts'
import { HookFault, isObject, nameOf } from '../../kit/work/hook-fault.ts'
import type { Call } from '../call/call.ts'
import { findingTypes, severities } from '../call/findings.ts'
import type { Reply } from '../call/reply.ts'
import type { Span } from '../detect/detect.ts'
import type { Filter } from '../stream/filter.ts'

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
