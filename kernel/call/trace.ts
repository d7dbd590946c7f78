import { addChange } from '../../kit/calls/param-changes.ts'
import type { Completion, ModelRequest } from '../../kit/canonical/forms.ts'
import { headerValue } from '../../kit/http/header-value.ts'
import type { BroughtText, InspectBrought } from '../chain/brought.ts'
import type { Revealing } from '../chain/revealing.ts'
import type { Varies } from '../chain/varies.ts'
import type { Attempt } from './attempt.ts'
import type { Call } from './call.ts'
import { Findings, type SafetyFinding, type TraceFinding } from './findings.ts'
import { readOnlyTrace } from './read-only.ts'
import type { Cached, Decision, Note, Rewrite, Skip, Timing } from './trace-records.ts'

const none: readonly TraceFinding[] = []

/** The facts that a call's chain knows and the call does not. */
export interface ChainFacts {
  /** Whether the gateway has a provider of this name. */
  isProvider(name: string): boolean
  /** The values that the answer varies by beside the request, from modules of later stages; undefined where none can have any. */
  readonly variesIn: Varies | undefined
  /** Undefined where there are no guards. */
  readonly inspectBrought?: InspectBrought | undefined
  readonly revealing?: Revealing
}

/** The record a call leaves behind; shared by all its copies, written by the kernel and the modules. */
export class Trace {
  readonly startedAt = Date.now()
  /** On the monotonic clock, milliseconds. */
  readonly started = performance.now()
  /** Headers for the answer, by `header`. */
  readonly headers: Record<string, string> = {}
  readonly attempts: Attempt[] = []
  readonly timings: Timing[] = []
  readonly skips: Skip[] = []
  readonly rewrites: Rewrite[] = []
  /** When the first content left for the client, on the monotonic clock. */
  firstContentAt: number | undefined
  /** Set by a module that answers without an attempt. */
  cached: Cached | undefined
  /** Facts of modules for the trace, by name: `template`, `experiment`, `stream` … */
  readonly facts: Record<string, unknown> = {}
  readonly #notes: Note[] = []
  readonly #decisions: Decision[] = []
  readonly #paramsChanged: string[] = []
  #findings: Findings | undefined
  #readOnly: Trace | undefined
  #served: Attempt | undefined
  #isServed = false
  #request: ModelRequest | undefined
  /** What was sent in each attempt. */
  readonly #sent: ModelRequest[] = []
  #slots: Map<symbol, unknown> | undefined
  #written: { readonly request: ModelRequest; readonly json: string } | undefined

  /** The answer's body as it may be recorded; for streams, set by the module that rebuilds them. */
  body: (() => Completion | undefined) | undefined

  /** The facts of the chain that runs the call, for functions of the kit. */
  chain: ChainFacts | undefined

  /** Modules that ran in shadow. */
  shadows: string[] | undefined

  /** A record beside this one, of a run in shadow: it knows this trace's facts, and leaves nothing of its own here. */
  aside(): Trace {
    const { startedAt, started, chain } = this
    const trace = Object.assign(new Trace(), { startedAt, started, chain })
    return Object.defineProperties(trace, {
      attempts: { get: () => this.attempts.map((attempt) => ({ ...attempt })) },
      served: { get: () => this.#served && { ...this.#served } },
    })
  }

  /**
   * The attempt that answered: of several at a time the one whose answer was taken. Inside the chain, the one whose answer
   * came last; undefined while none has.
   */
  get served(): Attempt | undefined {
    return this.#served
  }

  /** Says which attempt answered; `isFinal` when its answer is the call's, after which others change nothing. */
  answeredBy(attempt: Attempt, isFinal: boolean): void {
    if (this.#isServed) return
    this.#served = attempt
    this.#isServed = isFinal
    const sent = isFinal ? this.#sent[this.attempts.indexOf(attempt)] : undefined
    if (sent && this.#request) this.#request = sent
  }

  /** Adds an attempt that is made with this request: of several, what the one that answered was sent is recorded. */
  begin(attempt: Attempt, request: ModelRequest): void {
    this.attempts.push(attempt)
    this.#sent.push(request)
  }

  /** The same trace for plugins from outside: they add to it by its methods, and change nothing of what is there. */
  get readOnly(): Trace {
    this.#readOnly ??= readOnlyTrace(this)
    return this.#readOnly
  }

  /** The request as it may be recorded; undefined while nothing of it may be. */
  get request(): ModelRequest | undefined {
    return this.#request
  }

  /**
   * Says what of the request may be recorded from now on: in traces, logs and estimates. The rule has one sentence: what
   * may be recorded is what the guards have let pass, as it was last sent on, and nothing where a guard cannot say what
   * it would have taken out. So the chain says it behind the stages that inspect, a guard that refuses says it with its
   * findings taken out, delivery says it with what goes to the provider, and undefined takes everything back.
   */
  mayRecord(request: ModelRequest | undefined): void {
    this.#request = request
  }

  /** Sets a header of the answer; what a header cannot hold is left out of its value. */
  header(name: string, value: string | number): void {
    this.headers[name.toLowerCase()] = headerValue(String(value))
  }

  get notes(): readonly Note[] {
    return this.#notes
  }

  /** Notes what a module did. */
  note(module: string, verdict: string, detail?: Readonly<Record<string, unknown>>): void {
    this.addNote(detail === undefined ? { module, verdict } : { module, verdict, detail })
  }

  addNote(note: Note): void {
    this.#notes.push(note)
  }

  get findings(): readonly TraceFinding[] {
    return this.#findings?.all ?? none
  }

  /**
   * Records a finding of a guard, and what became of it; equal findings are counted as one. The kernel records detections
   * itself. Throws a fault of the module for a value that is no finding.
   */
  finding(module: string, found: SafetyFinding, mode?: 'shadow'): void {
    this.#findings ??= new Findings()
    this.#findings.add(module, found, mode)
  }

  /** Has the guards look at texts that the module `origin` brings into the call. */
  async inspectBrought(
    call: Call,
    texts: readonly BroughtText[],
    origin: string,
  ): Promise<readonly string[]> {
    return this.chain?.inspectBrought?.(this, call, texts, origin) ?? texts.map(({ text }) => text)
  }

  get decisions(): readonly Decision[] {
    return this.#decisions
  }

  /** Says which of several ways was taken, and why. */
  decide(decision: Decision): void {
    this.#decisions.push(decision)
  }

  /** Parameters that were changed or dropped, the first of them: `max_tokens->max_completion_tokens`, `-seed`. */
  get paramsChanged(): readonly string[] {
    return this.#paramsChanged
  }

  /** Names a parameter that was changed or dropped, once however often it is said. */
  changeParam(change: string): void {
    addChange(this.#paramsChanged, change)
  }

  /** A request as JSON. The next use of the same request gets the same text, so long prompts are written once. */
  json(request: ModelRequest): string {
    if (this.#written?.request !== request) this.#written = { request, json: JSON.stringify(request) }
    return this.#written.json
  }

  /** The value of an owner for this call, if it was made. */
  slotOf<T>(key: symbol): T | undefined {
    return this.#slots?.get(key) as T | undefined
  }

  /** A value of one owner for this call, made at first use. */
  slot<T>(key: symbol, create: () => T): T {
    this.#slots ??= new Map()
    if (!this.#slots.has(key)) this.#slots.set(key, create())
    return this.#slots.get(key) as T
  }
}
