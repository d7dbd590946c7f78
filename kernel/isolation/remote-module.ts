import { HostStore } from '../../storage/shared/host-store.ts'
import type { Call } from '../call/call.ts'
import type { Completion } from '../call/canonical.ts'
import type { Reply } from '../call/reply.ts'
import type { Entry } from '../chain/entry.ts'
import type { Next, Visit } from '../chain/hooks.ts'
import type { Meter } from '../chain/meter.ts'
import { detach } from '../contain.ts'
import type { Context } from '../contract/plugin.ts'
import { isGatewayError } from '../errors.ts'
import type { Grants } from '../permissions/permissions.ts'
import type { CallView } from './call-view.ts'
import type { Job, Shape, ToHost } from './messages.ts'
import { RemoteAnswers } from './remote-answers.ts'
import { RemoteAround } from './remote-around.ts'
import { type KnownCall, RemoteCalls } from './remote-calls.ts'
import { RemoteEvents } from './remote-events.ts'
import { RemotePipe } from './remote-pipe.ts'
import { errorOf } from './thrown.ts'
import { addPart } from './trace-part.ts'
import { type Done, WorkerHost } from './worker-host.ts'

type HostOptions = ConstructorParameters<typeof WorkerHost>[0]

/** A module that is in a worker: has it run its hooks, and takes in what it did. */
export class RemoteModule {
  readonly calls: RemoteCalls
  readonly id: string
  readonly failure: 'open' | 'closed'
  readonly grants: Grants
  readonly #context: Context<unknown>
  readonly #meter: Meter
  readonly #host: WorkerHost
  readonly #answers: RemoteAnswers
  readonly #events: RemoteEvents
  #pipes = 0
  #arounds = 0

  constructor(
    context: Context<unknown>,
    grants: Grants,
    meter: Meter,
    { data, limits, failure }: Pick<HostOptions, 'data' | 'limits'> & Pick<Entry, 'failure'>,
  ) {
    this.id = context.id
    this.failure = failure
    this.#context = context
    this.grants = grants
    this.#meter = meter
    this.#host = new WorkerHost({
      data,
      limits,
      heard: (message) => this.#heard(message),
      down: (reason) => {
        this.calls.clear()
        this.#answers.clear()
        this.#events.clear()
        meter.circuit.trip(reason)
      },
    })
    const post: WorkerHost['post'] = (message) => this.#host.post(message)
    this.calls = new RemoteCalls(post, grants.reads)
    this.#events = new RemoteEvents(context, this)
    const store = new HostStore(
      () => context.store,
      (news) => this.tell({ do: 'news', news }),
    )
    this.#answers = new RemoteAnswers(context, this.calls, store, post)
  }

  /** Resolves with what it does, when it is set up. */
  async start(): Promise<Shape> {
    const shape = await this.#host.start()
    this.calls.settles = shape.settles
    return shape
  }

  /** What it remembers so far. */
  async remembered(): Promise<Readonly<Record<string, unknown>>> {
    const { value } = await this.#host.run({ do: 'remember' })
    return value as Readonly<Record<string, unknown>>
  }

  async close(): Promise<Readonly<Record<string, unknown>> | undefined> {
    const remembered = await this.#host.close()
    this.calls.clear()
    this.#answers.clear()
    return remembered
  }

  /** Counts the workers there were: what one held, the next does not know. */
  get born(): number {
    return this.#host.born
  }

  /** Waits for the worker to be there; to start one takes longer than a hook may. */
  async started(): Promise<void> {
    if (this.#host.isReady) return
    const since = performance.now()
    await this.#host.start()
    const ms = performance.now() - since
    if (ms > 1) this.#meter.pardon(ms)
  }

  /** Starts another worker for one that was lost, when it is time to try. */
  async revive(): Promise<void> {
    const { circuit } = this.#meter
    if (circuit.waitMs > 0) return
    try {
      await this.started()
      circuit.succeeded()
    } catch (error) {
      this.#meter.fail('start', error)
    }
  }

  async admit(visit: Visit): Promise<void> {
    this.#value(await this.#host.run({ do: 'admit', visit }))
  }

  reveal(body: Completion, call: Call): Promise<unknown> {
    return this.run(call, (view) => ({ do: 'reveal', call: view, body }))
  }

  openPipe(call: Call, reveals: boolean): RemotePipe {
    this.#pipes += 1
    return new RemotePipe(this, call, this.#pipes, reveals)
  }

  /** Has the worker that there is take note of something. */
  async tell(job: Job): Promise<unknown> {
    return this.#value(await this.#host.now(job))
  }

  /** Has it do something for a call, which it is shown as it is now. `isOver`: the call has ended. */
  run(call: Call, job: (view: CallView, known: KnownCall) => Job, isOver = false): Promise<unknown> {
    return this.send(call, (known) => job(this.calls.view(call, known, isOver), known))
  }

  /** Like `run`, for a call that it has been shown. */
  async send(call: Call, job: (known: KnownCall) => Job): Promise<unknown> {
    // Nothing may come between when nothing has to be waited for: the call may be over in the next turn.
    if (!this.#host.isReady) await this.started()
    const known = this.calls.enter(call)
    try {
      return this.#value(await this.#host.run(job(known)), call, known)
    } finally {
      this.calls.leave(known)
    }
  }

  /** Has it wrap what is inside. */
  async around(call: Call, next: Next): Promise<Reply> {
    if (!this.#host.isReady) await this.started()
    const known = this.calls.enter(call)
    try {
      this.#arounds += 1
      const around = new RemoteAround(this, this.#arounds, known, call, next)
      this.#answers.add(this.#arounds, around)
      return await around.reply()
    } finally {
      this.calls.leave(known)
    }
  }

  /** Takes in what a job left behind; throws what it threw. */
  #value({ value, thrown, refused, trace, faults }: Done, call?: Call, known?: KnownCall): unknown {
    for (const fault of faults) this.#meter.fail(fault.hook, errorOf(fault.thrown))
    if (trace && call) {
      // A refusal is noted by who passes it on.
      const notes = refused ? trace.notes.filter(({ verdict }) => verdict !== 'refused') : trace.notes
      addPart(call.trace, { ...trace, notes })
    }
    if (!thrown) return value
    const error = known ? known.errors.errorOf(thrown) : errorOf(thrown)
    if (refused && isGatewayError(error) && !known?.errors.isOwn(thrown)) error.module = undefined
    throw error
  }

  #heard(message: ToHost): void {
    if (message.kind === 'report') this.#context.report(message.what, message.detail)
    else if (message.kind === 'log') this.#context.log[message.level](message.facts, message.message)
    else if (message.kind === 'abort') this.calls.abort(message.call, message.cancel, message.reason)
    else if (message.kind === 'listen') this.#events.listen(message.name)
    else if (message.kind === 'emit') this.#events.emit(message.event)
    else if (message.kind === 'ask')
      detach('an answer to a module', this.#answers.answer(message.id, message.ask))
    else if (message.kind === 'withdraw') this.#answers.withdraw(message.id)
  }
}
