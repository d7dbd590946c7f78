import type { TextLocation } from '../../kit/canonical/text-location.ts'
import type { Call } from '../call/call.ts'
import type { SafetyFinding } from '../call/findings.ts'

/** A finding: its characters, its kind, and the action on it. */
export interface Span {
  readonly start: number
  readonly end: number
  /** The kind of finding, such as `email` or `aws_key`: goes into traces and events, the text itself never does. */
  readonly label: string
  /**
   * `replace` puts `replacement` there, and `block` refuses the call. `note` and `log` only tell: a trace has them as a warning
   * and as an entry of the log.
   */
  readonly action: 'replace' | 'block' | 'note' | 'log'
  readonly replacement?: string
  /** For the trace: `high` for what is blocked, `medium` for what is replaced and `low` for the rest without it. */
  readonly severity?: SafetyFinding['severity']
  /** For the trace: what it is, where that is not the same for all findings of the module. */
  readonly type?: SafetyFinding['type']
  /** For the trace: the operator's rule that it comes from. */
  readonly ruleId?: string
  /** For the trace: from 0 to 1. */
  readonly confidence?: number
}

/**
 * A detector over text. The kernel applies it to every text of a request or an answer, and to streams through one
 * bounded window that neighbouring detectors share.
 *
 * The law: for every way of cutting a text, the streamed result equals the whole one. It holds when findings are
 * local, `scan` takes them from left to right, and `open` is right.
 *
 * Local: whether there is a finding at an index, and how long it is, depends on no more than the `context` characters
 * before it and the `reach` characters from it on.
 */
export interface Detection {
  /**
   * Findings that start at `from` or later, in order: the first, then the first after its end, and so on. The text
   * before `from` has left already and is there to look back at. `findAll` of the kit does this for several patterns. A
   * finding that is none (empty, outside of the text, over another one) is a failure of the hook.
   */
  scan(text: string, place: TextLocation, call: Call, from: number): readonly Span[]
  /** For requests: what `scan` needs to know of a long text as a whole, found out before in steps. Other calls have turns between these. */
  study?(text: string, place: TextLocation, call: Call): Iterable<unknown>
  /** Longest finding with all that it looks ahead for, in characters: so much is held back at the most. */
  readonly reach: number
  /** How far a finding looks back before its start, in characters; `reach` without it. */
  readonly context?: number
  /**
   * The first index, `from` or later, at which a finding may start that text to come could still make, change or end.
   * Text before it may leave. Without it, the last `reach` characters are held back.
   */
  open?(text: string, call: Call, from: number): number
  /**
   * For answers: guards see what it leaves, as it runs ahead of those of `verify` and again ahead of those of `inspect`. It should
   * `replace` or `block` all that it finds. Without effect for a module in a worker.
   */
  readonly cleans?: boolean
  /** For requests: whether it searches addresses, too. They may be signed or full of numbers, and one that is changed leads elsewhere. */
  readonly addresses?: boolean
  /** Whether there is anything to look for in this call; if not, its request or its answer passes untouched. */
  applies?(call: Call): boolean
  /** Puts what stands around a text of a request, or around one that a module brings in: after all findings, not searched. */
  frame?(text: string, place: TextLocation, call: Call): string
  /** Called once for each finding. */
  found?(span: Span, place: TextLocation, call: Call): void
  /** The trace's word for a replacement; `redacted` without it. */
  readonly verdict?: string
  /** The message of a block to the caller. */
  readonly refusal?: string
}
