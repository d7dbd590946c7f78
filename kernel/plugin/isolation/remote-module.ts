import type { Call } from '../../call/call.ts'
import type { Completion, CompletionChunk, ModelRequest } from '../../call/canonical.ts'
import type { Outcome } from '../../call/outcome.ts'
import { HookFault } from '../../chain/hook-fault.ts'
import type { Hooks } from '../../chain/hooks.ts'
import type { Meter } from '../../chain/meter.ts'
import { ClientGone, GatewayError, isGatewayError } from '../../errors.ts'
import { replyWith } from '../../stream/collect.ts'
import type { Grants } from '../permissions.ts'
import type { Context } from '../plugin.ts'
import { unveiled } from '../veil.ts'
import type { CallChange, CallView, Job, Passed, Shape, Step, ToHost } from './messages.ts'
import { type Remote, remote } from './remote.ts'
import { RemoteStream } from './remote-stream.ts'
import { errorOf, thrownOf } from './thrown.ts'
import { addPart } from './trail-part.ts'
import { type Done, WorkerHost } from './worker-host.ts'

interface Known {
  request: ModelRequest
  readonly call: Call
}

type HostOptions = ConstructorParameters<typeof WorkerHost>[0]

/** A module that is in a worker, as the chain sees it. */
export class RemoteModule {
  readonly #context: Context<unknown>
  readonly #grants: Grants
  readonly #meter: Meter
  readonly #host: WorkerHost
  /** Calls that the worker knows. */
  readonly #known = new Map<string, Known>()
  #pipes = 0
  #settles = false

  constructor(
    context: Context<unknown>,
    grants: Grants,
    meter: Meter,
    { data, limits }: Pick<HostOptions, 'data' | 'limits'>,
  ) {
    this.#context = context
    this.#grants = grants
    this.#meter = meter
    this.#host = new WorkerHost({
      data,
      limits,
      heard: (message) => this.#heard(message),
      down: (reason) => {
        this.#known.clear()
        meter.circuit.trip(reason)
      },
    })
  }

  /** Resolves with its hooks when it is set up. */
  async start(): Promise<Hooks> {
    return this.#hooks(await this.#host.start())
  }

  /** What it remembers so far. */
  async remembered(): Promise<Readonly<Record<string, unknown>>> {
    const { value } = await this.#host.run({ do: 'remember' })
    return value as Readonly<Record<string, unknown>>
  }

  close(): Promise<Readonly<Record<string, unknown>> | undefined> {
    return this.#host.close()
  }

  /** A number for a stream; it stands for the worker that there is now, too. */
  openPipe(): { readonly number: number; born: number | undefined } {
    this.#pipes += 1
    return { number: this.#pipes, born: undefined }
  }

  dropPipe({ number }: { readonly number: number }): void {
    this.#host.post({ kind: 'drop', pipe: number })
  }

  async pass(
    call: Call,
    pipe: { readonly number: number; born: number | undefined },
    chunks: readonly CompletionChunk[],
    end: boolean,
  ): Promise<Passed> {
    if (pipe.born !== undefined && pipe.born !== this.#host.born)
      throw new HookFault('its worker was lost in the middle of a stream')
    if (pipe.born === undefined) await this.#started()
    pipe.born = this.#host.born
    const view = this.#view(call)
    const done = await this.#host.run({ do: 'stream', call: view, pipe: pipe.number, chunks, end })
    return this.#value(done, call) as Passed
  }

  #hooks(shape: Shape): Hooks {
    this.#settles = shape.settles
    const hooks = {
      ...(shape.admits && {
        admit: async (visit: Parameters<NonNullable<Hooks['admit']>>[0]) => {
          this.#value(await this.#host.run({ do: 'admit', visit }))
        },
      }),
      ...(shape.requests && { request: (call: Call) => this.#request(call, shape) }),
      ...(shape.replies && {
        reply: async (body: Completion, call: Call) =>
          (await this.#run(call, (view) => ({ do: 'reply', call: view, body }))) as Completion | undefined,
      }),
      ...(shape.streams && { stream: (call: Call) => new RemoteStream(this, call) }),
      ...(shape.settles && {
        settled: async (outcome: Outcome, call: Call) => {
          try {
            await this.#run(call, (view) => ({ do: 'settled', call: view, outcome: this.#told(outcome) }))
          } finally {
            if (call.cancel.aborted) this.#forget(call.id)
          }
        },
      }),
    }
    return { ...hooks, [remote]: { detects: shape.detects } } satisfies Remote as Hooks
  }

  async #request(call: Call, { detects }: Shape): Promise<Call | ReturnType<typeof replyWith> | undefined> {
    try {
      const step = (await this.#run(call, (view) => ({ do: 'request', call: view }))) as Step
      if (!step) return undefined
      return 'body' in step ? replyWith(call, step.body) : this.#changed(call, step.change)
    } catch (error) {
      // What was found is known over there alone: nothing of the request can be recorded.
      if (detects && isGatewayError(error)) call.trail.request = undefined
      throw error
    }
  }

  #changed(call: Call, { fields, context, timeouts }: CallChange): Call | undefined {
    if (Object.keys(fields).length === 0 && !context && !timeouts) return undefined
    const seen = this.#seen(call)
    const changed = seen
      .withRequest(fields)
      .with({ ...(context && { context }), ...(timeouts && { timeouts }) })
    return seen === call ? changed : unveiled(call, seen, changed)
  }

  /** The call as the module may see it. */
  #seen(call: Call): Call {
    return this.#grants.reads ? call : call.veil
  }

  #view(call: Call): CallView {
    const { id, operation, wire, principal, context, timeouts, request } = this.#seen(call)
    const known = this.#known.get(id)
    const isKnown = known?.request === request
    if (known) known.request = request
    else {
      this.#known.set(id, { request, call })
      if (!call.cancel.aborted) {
        call.cancel.onAbort((reason) => {
          // Of a call whose client left, the module has yet to learn how it ended.
          if (!(this.#settles && reason instanceof ClientGone)) this.#forget(id)
        })
      }
    }
    const view = { id, operation, wire, principal, context, timeouts }
    return { ...view, request: isKnown ? undefined : request }
  }

  /** Waits for the worker to be there; to start one takes longer than a hook may. */
  async #started(): Promise<void> {
    const since = performance.now()
    await this.#host.start()
    const ms = performance.now() - since
    if (ms > 1) this.#meter.pardon(ms)
  }

  #forget(id: string): void {
    if (this.#known.delete(id)) this.#host.post({ kind: 'over', call: id })
  }

  async #run(call: Call, job: (view: CallView) => Job): Promise<unknown> {
    await this.#started()
    return this.#value(await this.#host.run(job(this.#view(call))), call)
  }

  /** Takes in what a job left behind; throws what it threw. */
  #value({ value, thrown, trail, faults }: Done, call?: Call): unknown {
    for (const fault of faults) this.#meter.fail(fault.hook, errorOf(fault.thrown))
    const error = thrown && errorOf(thrown)
    const isRefusal = error instanceof GatewayError && faults.length === 0
    if (trail && call) {
      // A refusal is noted by who passes it on.
      const notes = isRefusal ? trail.notes.filter(({ verdict }) => verdict !== 'refused') : trail.notes
      addPart(call.trail, { ...trail, notes })
    }
    if (isRefusal) error.module = undefined
    if (error) throw error
    return value
  }

  #told({ error, body, json: _, ...rest }: Outcome): Extract<Job, { do: 'settled' }>['outcome'] {
    return { ...rest, body: this.#grants.reads ? body() : undefined, error: error && thrownOf(error) }
  }

  #heard(message: ToHost): void {
    if (message.kind === 'report') this.#context.report(message.what, message.detail)
    else if (message.kind === 'log') this.#context.log[message.level](message.facts, message.message)
    else if (message.kind === 'complete') void this.#complete(message)
  }

  async #complete({ id, request, on, budgetUsd }: Extract<ToHost, { kind: 'complete' }>): Promise<void> {
    const call = on === undefined ? undefined : this.#known.get(on)?.call
    try {
      const options = { ...(call && { on: call }), ...(budgetUsd !== undefined && { budgetUsd }) }
      this.#host.post({ kind: 'answer', id, value: await this.#context.complete(request, options) })
    } catch (error) {
      this.#host.post({ kind: 'answer', id, thrown: thrownOf(error) })
    }
  }
}
