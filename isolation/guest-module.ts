import type { Call } from '../kernel/call/call.ts'
import type { Entry } from '../kernel/chain/entry.ts'
import { type Hooks, hooksOf, type Next } from '../kernel/chain/hooks.ts'
import { inspectRequest } from '../kernel/chain/inspect.ts'
import { checkedReply } from '../kernel/chain/returned.ts'
import { revealReply, rewriteReply, searchReply } from '../kernel/chain/rewrite.ts'
import { grantedHooks } from '../kernel/permissions/granted.ts'
import { grantsOf } from '../kernel/permissions/permissions.ts'
import { readOnlyHooks } from '../kernel/permissions/read-only.ts'
import { collect } from '../kernel/stream/collect.ts'
import { detach } from '../kit/work/contain.ts'
import type { Awaitable } from '../kit/work/continue-with.ts'
import type { Handlers } from '../storage/shared/rpc-port.ts'
import { cannotCross } from './absent.ts'
import type { CallView } from './call-view.ts'
import { answerIn } from './crossing-call.ts'
import type { GuestCall, GuestCalls, Host } from './guest-calls.ts'
import type { GuestEvents } from './guest-events.ts'
import type { GuestMeter } from './guest-meter.ts'
import { GuestRun } from './guest-run.ts'
import type { CallHooks, GuestData, GuestMethods, Shape, Step } from './protocol.ts'

interface Parts {
  readonly calls: GuestCalls
  readonly events: GuestEvents
  readonly meter: GuestMeter
  readonly host: () => Host
}

type ModuleMethods = keyof CallHooks | 'admit' | 'read'

/** A module in its worker: runs its hooks with the kernel's own code, as a chain of one. */
export class GuestModule {
  readonly #data: GuestData
  readonly #parts: Parts
  #entry: Entry

  constructor(data: GuestData, parts: Parts) {
    const { id, manifest } = data
    const { stage, failure, finds } = manifest
    this.#data = data
    this.#parts = parts
    this.#entry = { id, stage, failure, finds, when: undefined, meter: parts.meter, hooks: {} }
  }

  /** Takes over what its setup has returned. Throws when a hook is not granted. */
  begin(returned: Hooks): Shape {
    const { id, manifest } = this.#data
    if (returned.show) throw cannotCross(id, 'the hook show')
    if (returned.attemptEnded) throw cannotCross(id, 'the hook attemptEnded')
    const hooks = grantedHooks(id, readOnlyHooks(returned), grantsOf(manifest.permissions))
    if (hooks.eligible ?? hooks.prefers) throw cannotCross(id, 'a word in where calls go')
    this.#entry = { ...this.#entry, hooks }
    const { pure, detect } = hooks
    const detects = detect?.request !== undefined
    const more = [detects && 'request', ...(detect?.reply ? ['reply', 'stream'] : []), pure && 'pure']
    return { hooks: [...hooksOf(hooks), ...more.filter((name) => typeof name === 'string')], detects }
  }

  /** The methods that the gateway may call. */
  get methods(): Pick<Handlers<GuestMethods>, ModuleMethods> {
    return {
      admit: (visit) => this.#entry.hooks.admit!(visit),
      request: this.#forCall((call) => this.#request(call)),
      around: this.#forCall(async (call, { run, varies }, known) => {
        known.varies = varies
        const { calls, host } = this.#parts
        const passage = new GuestRun(run, known, host())
        const { wraps, around } = this.#entry.hooks
        const next: Next = (to) => passage.next(call, to, calls)
        // Calls that its `wraps` declines pass by.
        const made = wraps?.(call) === false ? next(call) : around!(call, next)
        return passage.view(checkedReply(await made))
      }),
      rewrite: this.#forCall(async (call, { run, reply, hook }, known) => {
        const passage = new GuestRun(run, known, this.#parts.host())
        const rewrite = { stream: rewriteReply, reveal: revealReply, search: searchReply }[hook]
        return passage.view(await rewrite(passage.replyOf(reply), [this.#entry], call))
      }),
      attempt: this.#forCall(async (call, { attempt, headers }, { trace }) => {
        const added = { ...headers }
        await this.#entry.hooks.attempt!(trace.attemptOf(attempt), call, added)
        return added
      }),
      attempted: this.#forCall((call, { attempt }, { trace }) =>
        this.#entry.hooks.attempted!(trace.attemptOf(attempt), call),
      ),
      settled: this.#forCall((call, { outcome }, known) =>
        this.#entry.hooks.settled!(known.outcomeOf(outcome), call),
      ),
      event: this.#forCall((call, { event, outcome }, known) => {
        const about = { call, ...(outcome && { outcome: known.outcomeOf(outcome) }) }
        detach('an event', this.#parts.events.hear(event, about))
      }),
      read: ({ of, run, stream, isLeft, fed }) =>
        answerIn(
          this.#parts.calls.find(of),
          run,
          (passage) => (fed ? passage.feed(stream, fed) : passage.read(stream, isLeft)),
          (items) => items === undefined,
        ),
    }
  }

  #forCall<G, T>(run: (call: Call, given: G, known: GuestCall) => Awaitable<T>) {
    return (given: G & { readonly call: CallView }) => {
      const { calls } = this.#parts
      const call = calls.callOf(given.call)
      const known = calls.find(call.id)!
      return known.answer(() => run(call, given, known))
    }
  }

  async #request(call: Call): Promise<Step> {
    const step = await inspectRequest(this.#entry, call, () => [])
    if (step === undefined) return undefined
    return 'kind' in step ? { body: await collect(step) } : { change: this.#parts.calls.changeOf(call, step) }
  }
}
