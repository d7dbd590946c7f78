import type { Handlers } from '../../storage/shared/rpc-port.ts'
import { ShortLived } from '../../storage/shared/short-lived.ts'
import type { Call } from '../call/call.ts'
import { type Reply, WholeReply } from '../call/reply.ts'
import type { ChainHooks } from '../chain/batches.ts'
import type { Entry } from '../chain/entry.ts'
import type { Awaitable, Hooks } from '../chain/hooks.ts'
import { inspectRequest, asks as looks } from '../chain/inspect.ts'
import { readOnlyHooks } from '../chain/read-only.ts'
import { revealReply, rewriteReply } from '../chain/rewrite.ts'
import { isGatewayError } from '../errors.ts'
import { HookFault } from '../hook-fault.ts'
import { grantedHooks } from '../permissions/granted.ts'
import { grantsOf } from '../permissions/permissions.ts'
import { collect } from '../stream/collect.ts'
import { thrownOf } from '../workers/thrown.ts'
import { type CallView, outcomeOf } from './call-view.ts'
import { GuestAround } from './guest-around.ts'
import type { GuestCall, GuestCalls, Host } from './guest-calls.ts'
import { cannotCross } from './guest-context.ts'
import type { GuestEvents } from './guest-events.ts'
import type { GuestMeter } from './guest-meter.ts'
import { GuestStream } from './guest-stream.ts'
import type {
  AroundRun,
  CallHooks,
  Done,
  GuestData,
  GuestMethods,
  Passed,
  Shape,
  Step,
  StreamStep,
} from './protocol.ts'

interface Parts {
  readonly calls: GuestCalls
  readonly events: GuestEvents
  readonly meter: GuestMeter
  readonly host: () => Host
}

type ModuleMethods = keyof CallHooks | 'admit' | 'stream' | 'drop' | 'pull' | 'release'

/** A module in its worker: runs its hooks with the kernel's own code, as a chain of one. */
export class GuestModule {
  readonly #data: GuestData
  readonly #parts: Parts
  readonly #streams = new ShortLived<number, GuestStream>()
  #entry: Entry

  constructor(data: GuestData, parts: Parts) {
    const { id, stage, failure, finds } = data
    this.#data = data
    this.#parts = parts
    this.#entry = { id, stage, failure, finds, when: undefined, meter: parts.meter, hooks: {} }
  }

  /** Takes over what its setup has returned. Throws when a hook is not granted. */
  begin(returned: Hooks): Shape {
    const { id, permissions } = this.#data
    if (returned.show) throw cannotCross(id, 'the hook show')
    if (returned.attemptEnded) throw cannotCross(id, 'the hook attemptEnded')
    const hooks = grantedHooks(id, readOnlyHooks(returned), grantsOf(permissions))
    if (hooks.eligible ?? hooks.prefers) throw cannotCross(id, 'a word in where calls go')
    this.#entry = { ...this.#entry, hooks }
    const { admit, pure, around, varies, attempt, attempted, reply, stream, detect, reveal, settled } = hooks
    return {
      admit: admit !== undefined,
      request: looks(this.#entry),
      pure: pure === true,
      detects: detect?.request !== undefined,
      around: around !== undefined,
      varies: varies !== undefined,
      attempt: attempt !== undefined,
      attempted: attempted !== undefined,
      reply: (reply ?? detect?.reply) !== undefined,
      stream: (reply ?? stream ?? detect?.reply) !== undefined,
      reveal: reveal !== undefined,
      settled: settled !== undefined,
    }
  }

  /** The methods that the gateway may call. */
  get methods(): Pick<Handlers<GuestMethods>, ModuleMethods> {
    return {
      admit: (visit) => this.#do('', () => this.#entry.hooks.admit!(visit)),
      request: this.#forCall((call) => this.#request(call)),
      around: this.#forCall((call, { run, varies }, known) => {
        known.varies = varies
        const { calls, host } = this.#parts
        const around = new GuestAround(run, { call, known, calls, host: host() })
        known.arounds.set(run, around)
        return around.reply(aroundOf(this.#entry.hooks, call))
      }),
      attempt: this.#forCall(async (call, { attempt, headers }, { trace }) => {
        const added = { ...headers }
        await this.#entry.hooks.attempt!(trace.attemptOf(attempt), call, added)
        return added
      }),
      attempted: this.#forCall((call, { attempt }, { trace }) =>
        this.#entry.hooks.attempted!(trace.attemptOf(attempt), call),
      ),
      reply: this.#forCall((call, { body }) => this.#rewrite(rewriteReply, body, call)),
      reveal: this.#forCall((call, { body }) => this.#rewrite(revealReply, body, call)),
      settled: this.#forCall((call, { outcome }, { errors }) =>
        this.#entry.hooks.settled!(outcomeOf(outcome, errors), call),
      ),
      event: this.#forCall((call, given, known) => this.#parts.events.hearOf(call, given, known)),
      stream: (step) =>
        this.#do(
          step.of,
          () => this.#stream(step),
          ({ over }) => over !== undefined,
        ),
      drop: ({ of, pipe }) =>
        this.#do(
          of,
          () => this.#streams.take(pipe)?.drop(),
          () => true,
        ),
      pull: ({ stream, ...at }) =>
        this.#do(
          at.of,
          () => this.#aroundOf(at).pull(stream),
          ({ over }) => over !== undefined,
        ),
      release: ({ stream, ...at }) => this.#do(at.of, () => this.#aroundOf(at).release(stream)),
    }
  }

  #forCall<G, T>(run: (call: Call, given: G, known: GuestCall) => Awaitable<T>) {
    return (given: G & { readonly call: CallView }): Promise<Done<T>> => {
      const { calls } = this.#parts
      const call = calls.callOf(given.call)
      return this.#do(call.id, () => run(call, given, calls.find(call.id)!))
    }
  }

  /** Runs something for a call. `isLast`: of a stream, whose trace may change until its end. */
  async #do<T>(of: string, run: () => Awaitable<T>, isLast?: (value: T) => boolean): Promise<Done<T>> {
    const { calls, meter } = this.#parts
    try {
      const value = await run()
      const isOver = isLast?.(value)
      const trace = isOver === false ? undefined : calls.find(of)?.trace.takePart(isOver ?? false)
      return { value, trace, faults: meter.takeFaults() }
    } catch (error) {
      const known = calls.find(of)
      return {
        thrown: known ? known.errors.thrownOf(error) : thrownOf(error),
        // The module's word, and not its failure.
        refused: isGatewayError(error) && !meter.hasFailed(error.cause),
        trace: known?.trace.takePart(false),
        faults: meter.takeFaults(),
      }
    }
  }

  async #request(call: Call): Promise<Step> {
    const step = await inspectRequest(this.#entry, call, () => [])
    if (step === undefined) return undefined
    return 'kind' in step ? { body: await collect(step) } : { change: this.#parts.calls.changeOf(call, step) }
  }

  /** A whole answer as the module leaves it; undefined when it leaves it alone. */
  async #rewrite(step: typeof rewriteReply | typeof revealReply, body: WholeReply['body'], call: Call) {
    const before: Reply = WholeReply.of(body)
    const after = await step(before, [this.#entry], call)
    return after === before ? undefined : collect(after)
  }

  async #stream({ pipe, batch, end, begin }: StreamStep): Promise<Passed> {
    let stream = this.#streams.get(pipe)
    if (!stream) {
      if (!begin) throw new HookFault('the stream is over')
      const call = this.#parts.calls.callOf(begin.call)
      const step = begin.reveals ? revealReply : rewriteReply
      stream = await GuestStream.begin((reply) => step(reply, [this.#entry], call))
      this.#streams.set(pipe, stream)
    }
    const passed = await stream.push(batch, end)
    if (passed.over) this.#streams.take(pipe)
    return passed
  }

  #aroundOf({ of, run }: AroundRun): GuestAround {
    const around = this.#parts.calls.find(of)?.arounds.get(run)
    if (!around) throw new HookFault('the call is over')
    return around
  }
}

/** The module's `around`, which calls that its `wraps` declines pass by. */
const aroundOf = (
  { wraps, around }: Pick<ChainHooks, 'wraps' | 'around'>,
  call: Call,
): NonNullable<Hooks['around']> => (wraps?.(call) === false ? (same, next) => next(same) : around!)
