import type { Attempt } from '../call/attempt.ts'
import type { Call } from '../call/call.ts'
import type { Outcome } from '../call/outcome.ts'
import { type Reply, WholeReply } from '../call/reply.ts'
import type { ChainFacts } from '../call/trace.ts'
import type { AttemptHooks } from '../contract/delivery.ts'
import type { TargetHooks } from '../contract/routing.ts'
import { askAdmit } from './admit.ts'
import { aroundFailure, runAround, wraps } from './around.ts'
import { askAttempt, inTurn, tellAll } from './attempts.ts'
import { looksElsewhere } from './batches.ts'
import { inspectorOf } from './brought.ts'
import { cleanedFirst } from './cleaned.ts'
import { applies, type Entry, engages, recordRewrite } from './entry.ts'
import { type Next, stages, type Visit } from './hooks.ts'
import { asks, inspectRequest } from './inspect.ts'
import { revealingOf } from './revealing.ts'
import { revealReply, rewriteReply, rewrites, rewritesBodies, searchReply } from './rewrite.ts'
import { ClientView } from './show.ts'
import { targetHooksOf } from './targets.ts'
import { variesOf } from './varies.ts'

/** The first stage after those that inspect: from there on the request may be recorded. */
const recordFrom = stages.indexOf('shape')

/** Whether a module has anything for a call on its way. */
const passes = (entry: Entry): boolean => asks(entry) || rewrites(entry) || entry.hooks.around !== undefined

/**
 * The ordered hooks of one generation, compiled: entries without a hook are not there, synchronous hooks are called
 * without a promise, and a call costs one async function for each `around` on its way.
 */
export class Chain {
  readonly #passed: readonly Entry[]
  /** The place of the first of them before which the request may be recorded. */
  readonly #recordAt: number
  readonly #admits: readonly Entry[]
  readonly #attempts: readonly Entry[]
  readonly #attempted: readonly Entry[]
  readonly #reveals: readonly Entry[]
  readonly #settles: readonly Entry[]
  readonly #detects: readonly Entry[]
  readonly #dispatch: Next
  /** The answers of modules about the targets that calls may go to; undefined where no module has a hook for them. */
  readonly targets: TargetHooks | undefined
  /** Reports to all modules that a try is over, as with `attempted`; undefined where none asks. */
  readonly attemptEnded: AttemptHooks['ended']
  /** The changes that modules make to the answer for the client. */
  readonly clientView: ClientView
  /** The facts of this chain that its calls see. */
  readonly facts: ChainFacts

  constructor(modules: readonly Entry[], dispatch: Next, isProvider: ChainFacts['isProvider'] = () => false) {
    const entries = cleanedFirst(modules)
    this.#passed = entries.filter(passes)
    this.#recordAt = this.#passed.findIndex(({ stage }) => stages.indexOf(stage) >= recordFrom)
    this.#admits = entries.filter((entry) => entry.hooks.admit && !entry.when)
    this.#attempts = entries.filter((entry) => entry.hooks.attempt)
    this.#attempted = entries.filter((entry) => entry.hooks.attempted)
    const ended = entries.filter((entry) => entry.hooks.attemptEnded)
    if (ended.length > 0) this.attemptEnded = (attempt, call) => tellAll(ended, 'attemptEnded', attempt, call)
    this.#reveals = entries.filter((entry) => entry.hooks.reveal)
    this.#settles = entries.filter((entry) => entry.hooks.settled)
    this.#detects = entries.filter(
      ({ hooks }) => hooks.detect?.request !== undefined || hooks[looksElsewhere],
    )
    this.targets = targetHooksOf(entries)
    this.facts = {
      isProvider,
      variesIn: variesOf(entries),
      inspectBrought: inspectorOf(this.#detects),
      revealing: revealingOf(this.#reveals),
    }
    this.clientView = new ClientView(entries)
    this.#dispatch = dispatch
  }

  /** Asks all modules about a request at the door; a refusal throws. Returns a promise only if one of them is asynchronous. */
  admit(visit: Visit): void | Promise<void> {
    return inTurn(this.#admits, (entry) => askAdmit(entry, visit))
  }

  /** Runs a call down to the provider and its answer back up. */
  run(call: Call): Promise<Reply> {
    call.trace.chain = this.facts
    return this.#run(call, 0)
  }

  /** The form of an answer that the client alone gets to see. A promise only when a module that reveals runs elsewhere. */
  reveal(reply: Reply, call: Call): Reply | Promise<Reply> {
    if (this.#reveals.length === 0) return reply
    const revealing = this.#reveals.filter((entry) => engages(entry, call))
    return revealReply(reply, revealing, call)
  }

  /** What a provider says in place of an answer, as guards let it pass; rejects with what one of them refuses with. */
  async search(texts: readonly string[], call: Call): Promise<readonly string[]> {
    const guards = this.#passed.filter((entry) => rewrites(entry) && engages(entry, call))
    const searched = await searchReply(WholeReply.of({ said: texts }), guards, call)
    return searched.kind === 'whole' ? (searched.body.said as readonly string[]) : texts
  }

  /** Asks all modules about an attempt; a refusal throws. Returns a promise only if one of them is asynchronous. */
  attempt(attempt: Attempt, call: Call, headers: Record<string, string>): void | Promise<void> {
    return inTurn(this.#attempts, (entry) => {
      if (engages(entry, call)) return askAttempt(entry, attempt, call, headers)
    })
  }

  /** Reports to all modules how a try went. Failures are metered and go nowhere else. A promise as with `attempt`. */
  attempted(attempt: Attempt, call: Call): void | Promise<void> {
    return tellAll(this.#attempted, 'attempted', attempt, call)
  }

  /** Reports to all modules how the call ended, as with `attempted`. */
  settled(outcome: Outcome, call: Call): void | Promise<void> {
    return tellAll(this.#settles, 'settled', outcome, call)
  }

  async #run(original: Call, from: number): Promise<Reply> {
    const rewriting: Entry[] = []
    let call = original
    let answer: Reply | undefined
    let rewritesWhole = false
    for (let i = from; i < this.#passed.length && !answer; i += 1) {
      const entry = this.#passed[i]!
      if (i === this.#recordAt) call.trace.mayRecord(call.request)
      if (!engages(entry, call)) continue
      let result = asks(entry) ? inspectRequest(entry, call, this.#detectsAfter) : undefined
      if (result instanceof Promise) result = await result
      if (result && 'kind' in result) {
        call.trace.note(entry.id, 'answered')
        answer = result
        break
      }
      if (result) {
        recordRewrite(entry, call, result)
        call = result
      }
      if (rewrites(entry)) {
        rewriting.push(entry)
        rewritesWhole ||= rewritesBodies(entry)
      }
      const how = entry.hooks.around !== undefined && wraps(entry, call)
      if (how) answer = await this.#wrapped(entry, call, i + 1, how === 'failures')
    }
    answer ??= await this.#dispatch(call)
    if (answer.attempt) call.trace.answeredBy(answer.attempt, from === 0)
    return (answer.kind === 'whole' ? rewritesWhole : rewriting.length > 0)
      ? await rewriteReply(answer, rewriting, call)
      : answer
  }

  #wrapped(around: Entry, call: Call, from: number, onlyFailures: boolean): Promise<Reply> {
    const inside: Next = (inner) => this.#run(inner, from)
    if (!onlyFailures) return runAround(around, call, inside)
    return aroundFailure(around, call, inside, from === this.#passed.length ? this.#dispatch : inside)
  }

  readonly #detectsAfter = (entry: Entry, call: Call): Entry[] =>
    this.#detects.slice(this.#detects.indexOf(entry) + 1).filter((later) => applies(later, call))
}
