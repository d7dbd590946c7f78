import type { TextLocation } from '../../kit/canonical/text-location.ts'
import { HookFault } from '../../kit/work/hook-fault.ts'

/** The subject of a finding. */
export const findingTypes = [
  'pii',
  'secret',
  'injection',
  'toxic',
  'policy',
  'tool',
  'agent',
  'custom',
] as const
export const severities = ['low', 'medium', 'high', 'critical'] as const
export const findingActions = ['block', 'redact', 'warn', 'log'] as const

const textKinds: readonly TextLocation['kind'][] = [
  'content',
  'reasoning',
  'refusal',
  'arguments',
  'parameter',
  'address',
]

/** Where something was found, in characters of the text as its detector read it. */
export interface FoundSpan extends Pick<TextLocation, 'role' | 'kind' | 'origin'> {
  readonly start: number
  readonly end: number
}

/** Something in a call that a guard has found: what it is, where it stands and what became of it; never the text. */
export interface SafetyFinding {
  readonly type: (typeof findingTypes)[number]
  readonly severity: (typeof severities)[number]
  readonly action: (typeof findingActions)[number]
  readonly direction: TextLocation['direction']
  /** The kind of finding, such as `email`: never the text that was found. */
  readonly label: string
  /** The operator's rule that found it. */
  readonly ruleId?: string
  readonly spans?: readonly FoundSpan[]
  /** From 0 to 1; the highest of those that are alike. */
  readonly confidence?: number
  /** How many there were of the same; one without it. */
  readonly count?: number
}

/** Findings that are alike, as a trace holds them: counted, with where the first of them stand. */
export interface TraceFinding extends SafetyFinding {
  readonly module: string
  readonly spans: readonly FoundSpan[]
  readonly count: number
  /** Of a module in shadow: what it would have done, and did not. */
  readonly mode?: 'shadow'
}

/** Kinds of findings that a call tells of by name, and places of each; the rest is counted. */
const most = { kinds: 100, spans: 20, word: 64 }

type Kind = TraceFinding & { count: number; spans: FoundSpan[] }

/** The findings of one call. A call may have thousands, so those that are alike are one with a count. */
export class Findings {
  readonly #all = new Map<string, Kind>()

  get all(): readonly TraceFinding[] {
    return [...this.#all.values()]
  }

  /** Throws a fault of the module for a finding that is none. */
  add(module: string, found: SafetyFinding, mode?: 'shadow'): void {
    checkFinding(found)
    const { label, spans = [], confidence, count = 1 } = found
    const known = this.#kindOf(module, found, cut(label), mode)
    known.count += count
    for (const span of spans.slice(0, most.spans - known.spans.length)) known.spans.push(placeOf(span))
    if (confidence !== undefined)
      Object.assign(known, { confidence: Math.max(known.confidence ?? 0, confidence) })
  }

  /** Adds one more kind; beyond the limit, all findings of a module and a type count as one. */
  #kindOf(module: string, found: SafetyFinding, label: string, mode: 'shadow' | undefined): Kind {
    const { type, severity, action, direction } = found
    const rule = found.ruleId === undefined || label === rest ? {} : { ruleId: cut(found.ruleId) }
    const key = JSON.stringify([module, mode, type, severity, action, direction, label, rule])
    const known = this.#all.get(key)
    if (known) return known
    if (this.#all.size >= most.kinds && label !== rest) return this.#kindOf(module, found, rest, mode)
    // Field by field: what else a plugin put into it may be the text.
    const kind = { module, type, severity, action, direction, label, ...rule }
    const made: Kind = { ...kind, spans: [], count: 0, ...(mode && { mode }) }
    this.#all.set(key, made)
    return made
  }
}

/** The shared name of findings once there are too many names. */
const rest = 'other'

const placeOf = ({ role, kind, origin, start, end }: FoundSpan): FoundSpan => ({
  role: cut(role),
  kind,
  ...(origin !== undefined && { origin: cut(origin) }),
  start,
  end,
})

const cut = (word: string): string => word.slice(0, most.word)

function checkFinding(found: SafetyFinding): void {
  const { type, severity, action, direction, label } = found
  const { ruleId = '', spans = [], confidence = 0, count = 1 } = found
  const isKnown =
    findingTypes.includes(type) &&
    severities.includes(severity) &&
    findingActions.includes(action) &&
    (direction === 'request' || direction === 'reply')
  if (!isKnown) throw new HookFault('a finding needs a type, a severity, an action and a direction')
  if (typeof label !== 'string' || typeof ruleId !== 'string')
    throw new HookFault('the label of a finding, and its ruleId, must be texts')
  if (!(confidence >= 0 && confidence <= 1) || !Number.isInteger(count) || count < 1)
    throw new HookFault('the confidence of a finding must lie from 0 to 1, and its count be at least 1')
  if (!Array.isArray(spans) || !spans.every(isPlace))
    throw new HookFault('the spans of a finding must have role, kind, start and end')
}

const isPlace = (span: Partial<FoundSpan> | null): boolean =>
  typeof span?.role === 'string' &&
  typeof (span.origin ?? '') === 'string' &&
  textKinds.includes(span.kind!) &&
  Number.isInteger(span.start) &&
  Number.isInteger(span.end)
