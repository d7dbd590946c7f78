import type { IncomingHttpHeaders } from 'node:http'
import { type Ids, ownText } from './ids.ts'

/** A place in a distributed trace, as W3C Trace Context has it. Ids are lower-case hexadecimal. */
export interface TraceContext {
  /** 32 digits. */
  readonly traceId: string
  /** 16 digits. */
  readonly spanId: string
  /** Of the caller's span; undefined where the trace begins here. */
  readonly parentId: string | undefined
  readonly isSampled: boolean
  /** The other flags that are passed on, as a number below 10. */
  readonly flags: number
  /** What the systems on the way add, passed on as it came or shortened by whole entries. */
  readonly state: string | undefined
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const zeros = /^0+$/

const sampledFlag = 0x01
/** Says that a trace id is random; no other flag has a meaning, and unknown ones are not passed on. */
const randomFlag = 0x02

/**
 * The place of a call: a child of the span that its headers name, or the beginning of a trace where they name none or are
 * invalid. A caller's decision whether the trace is sampled holds; `sampleRatio`, from 0 to 1, is for traces that begin here.
 */
export function joinTrace(headers: IncomingHttpHeaders, sampleRatio: number, ids: Ids): TraceContext {
  const caller = parsed(headers.traceparent)
  if (caller) return { ...caller, spanId: ids.span(), state: traceState(headers.tracestate) }
  return {
    traceId: ids.trace(),
    spanId: ids.span(),
    parentId: undefined,
    isSampled: Math.random() < sampleRatio,
    flags: randomFlag,
    state: undefined,
  }
}

/** The header that makes the receiver a child of this span of the trace. */
export const traceparent = ({ traceId, isSampled, flags }: TraceContext, spanId: string): string =>
  `00-${traceId}-${spanId}-0${flags | (isSampled ? sampledFlag : 0)}`

function parsed(header: unknown): Omit<TraceContext, 'spanId' | 'state'> | undefined {
  const found = typeof header === 'string' ? form.exec(header) : null
  if (!found) return undefined
  const [, version, traceId, parentId, said, rest] = found as unknown as string[]
  // Later versions may append fields, and no version is ff.
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (zeros.test(traceId!) || zeros.test(parentId!)) return undefined
  const flags = Number.parseInt(said!, 16)
  return {
    traceId: ownText(traceId!),
    parentId: ownText(parentId!),
    isSampled: (flags & sampledFlag) !== 0,
    flags: flags & randomFlag,
  }
}

const mostEntries = 32
const longestState = 512
/** Longer entries go first where a state is too long. */
const longEntry = 128

const entryForm =
  /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

/** A state that is valid as a whole; one with an invalid or a repeated entry, or too many of them, is left out. */
function traceState(header: unknown): string | undefined {
  const said = Array.isArray(header) ? header.join(',') : header
  if (typeof said !== 'string') return undefined
  const entries = said
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  if (entries.length === 0 || entries.length > mostEntries) return undefined
  if (!entries.every((entry) => entryForm.test(entry))) return undefined
  if (new Set(entries.map((entry) => entry.slice(0, entry.indexOf('=')))).size < entries.length)
    return undefined
  return fitted(entries)
}

function fitted(entries: readonly string[]): string | undefined {
  const whole = entries.join(',')
  if (whole.length <= longestState) return whole
  const kept = entries.filter((entry) => entry.length <= longEntry)
  while (kept.join(',').length > longestState) kept.pop()
  return kept.length === 0 ? undefined : kept.join(',')
}
