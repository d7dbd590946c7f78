import type { Call } from '../kernel/call/call.ts'
import type { Entry } from '../kernel/chain/entry.ts'
import type { Meter } from '../kernel/chain/meter.ts'
import type { Context } from '../kernel/contract/context.ts'
import { tellContained } from '../kit/work/contain.ts'
import { faultOf, HookFault } from '../kit/work/hook-fault.ts'
import { HostStore } from '../storage/shared/host-store.ts'
import type { Argument, Handlers, Result, RpcOptions } from '../storage/shared/rpc-port.ts'
import { SupervisedWorker } from '../workers/supervised-worker.ts'
import type { SupervisedOptions } from '../workers/supervision.ts'
import { errorOf, errors } from '../workers/thrown.ts'
import type { TraceMarks } from './call-view.ts'
import { answerIn } from './crossing-call.ts'
import type {
  Answered,
  CallHooks,
  GuestMethods,
  HostMethods,
  Remembered,
  SetupData,
  Shape,
} from './protocol.ts'
import { type RemoteCall, RemoteCalls } from './remote-calls.ts'
import { RemoteEvents } from './remote-events.ts'

type WorkerOptions = SupervisedOptions<GuestMethods, HostMethods, Shape>

/** How a worker of this table is started; `methods` and `begin` give its purpose. */
export type WorkerStart = Omit<WorkerOptions, 'methods' | 'begin' | 'lost' | 'rpc'>

/** How what modules and the gateway say to each other crosses. */
export const rpc: RpcOptions = {
  gathers: true,
  errors,
  uncloneable: () => new HookFault('a value cannot be sent to the worker'),
  failed: (error) => tellContained('what a module says', error),
}

/** Milliseconds for a module to give back what it holds. */
const leaveMs = 1_000

interface Options {
  readonly start: WorkerStart
  readonly failure: Entry['failure']
  /** Whether it may read the texts of calls. */
  readonly reads: boolean
  readonly given: () => SetupData
}

/** A module that is in a worker: has it run its hooks, and takes in what it did. */
export class RemoteModule {
  readonly id: string
  readonly failure: Entry['failure']
  readonly calls: RemoteCalls
  readonly worker: SupervisedWorker<GuestMethods, HostMethods, Shape>
  readonly #context: Context<unknown>
  readonly #meter: Meter
  readonly #events: RemoteEvents
  readonly #store: HostStore

  constructor(context: Context<unknown>, meter: Meter, { start, failure, reads, given }: Options) {
    this.id = context.id
    this.failure = failure
    this.calls = new RemoteCalls(() => this.worker, reads)
    this.#context = context
    this.#meter = meter
    this.#events = new RemoteEvents(context, this)
    this.#store = new HostStore(
      () => context.store,
      (news) => this.worker.call('news', news),
    )
    this.worker = new SupervisedWorker({
      ...start,
      methods: this.#methods(),
      rpc,
      begin: (worker) => worker.call('setUp', given()),
      lost: (lost) => {
        lost.isHeld = true
        this.#clear()
        meter.pardonedAt = performance.now()
        meter.event('lost', lost.reason)
        meter.circuit.failed('worker', this.calls.passed + this.worker.starts, lost.message)
      },
    })
  }

  /** Ends its worker; resolves with what it wants remembered. */
  async close(): Promise<Remembered | undefined> {
    const remembered = await this.worker.close((worker) => worker.call('leave', undefined), leaveMs)
    this.#clear()
    return remembered
  }

  /** Waits for the worker, longer than a hook may take. One that cannot start trips the module at once: no call is to blame. */
  async started(): Promise<void> {
    await this.worker.start().catch((error: unknown) => {
      if (!this.#context.signal.aborted) this.#meter.circuit.trip(`start: ${faultOf(error)}`)
      throw error
    })
    this.#meter.pardonedAt = performance.now()
  }

  /** Starts another worker for one that was lost, when it is time to try. */
  async revive(): Promise<void> {
    if (this.#meter.circuit.waitMs > 0) return
    await this.started()
    this.#meter.circuit.succeeded()
  }

  /** Has it do something for a call, which it is shown as it is now. */
  run<K extends keyof CallHooks>(
    hook: K,
    call: Call,
    given: (known: RemoteCall) => Argument<CallHooks[K]>,
  ): Promise<Result<CallHooks[K]>> {
    type Ask = (hook: K, given: unknown) => Promise<Answered<Result<CallHooks[K]>, TraceMarks>>
    const ask = this.worker.call.bind(this.worker) as unknown as Ask
    return this.ask(call, (known) => ask(hook, { call: known.view(call), ...given(known) }))
  }

  /** Asks it something for a call that it has been shown, or is shown now. */
  async ask<T>(call: Call, ask: (known: RemoteCall) => Promise<Answered<T, TraceMarks>>): Promise<T> {
    // Nothing may come between when there is nothing to await: the call may be over in the next turn.
    if (!this.worker.isReady) await this.started()
    const known = this.calls.enter(call)
    try {
      return known.taken(await ask(known))
    } finally {
      this.calls.leave(known)
    }
  }

  /** The methods that the worker may call. */
  #methods(): Handlers<HostMethods> {
    const context = this.#context
    return {
      complete: ({ request, on, budgetUsd, as }, { signal }) => {
        const call = this.calls.find(on)?.call
        return context.complete(request, {
          signal,
          as,
          ...(call && { on: call }),
          ...(budgetUsd !== undefined && { budgetUsd }),
        })
      },
      store: (ask) => this.#store.answer(ask),
      next: ({ of, run, change, state }) => {
        const known = this.calls.find(of)
        known?.follow(state)
        return answerIn(known, run, (found) => found.next(change))
      },
      read: ({ of, run, stream, isLeft }) =>
        answerIn(
          this.calls.find(of),
          run,
          (found) => found.read(stream, isLeft),
          (batch) => batch === undefined,
        ),
      abort: ({ call, cancel, reason }) => this.calls.find(call)?.abort(cancel, reason),
      add: ({ of, ...addition }) => this.calls.find(of)?.add(addition),
      fail: ({ hook, thrown }) => this.#meter.fail(hook, errorOf(thrown)),
      refuse: (code) => this.#meter.refuse(code),
      listen: (name) => this.#events.listen(name),
      declare: (kind) => this.#events.declare(kind),
      emit: (event) => this.#events.emit(event),
      report: ({ kind, detail }) => context.report(kind, detail),
      log: ({ level, facts, message }) => context.log[level](facts, message),
    }
  }

  #clear(): void {
    this.calls.clear()
    this.#store.clear()
  }
}
