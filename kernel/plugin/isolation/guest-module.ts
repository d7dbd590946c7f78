import type { Call } from '../../call/call.ts'
import type { Outcome } from '../../call/outcome.ts'
import { WholeReply } from '../../call/reply.ts'
import type { Entry } from '../../chain/entry.ts'
import { faultOf, HookFault } from '../../chain/hook-fault.ts'
import type { Hooks } from '../../chain/hooks.ts'
import { asks, inspected } from '../../chain/inspect.ts'
import { Meter } from '../../chain/meter.ts'
import { rewritten } from '../../chain/rewrite.ts'
import { GatewayError } from '../../errors.ts'
import { collect } from '../../stream/collect.ts'
import { grantedHooks } from '../granted.ts'
import { grantsOf } from '../permissions.ts'
import { changeOf, type GuestCalls } from './guest-calls.ts'
import { cannotCross } from './guest-context.ts'
import { GuestStream } from './guest-stream.ts'
import type { Fault, GuestData, Job, Shape, Step } from './messages.ts'
import { errorOf, thrownOf } from './thrown.ts'

/** Counts nothing: what failed is told to the other side, which counts. */
class GuestMeter extends Meter {
  readonly #faults: Fault[]

  constructor(faults: Fault[]) {
    super()
    this.#faults = faults
  }

  override fail(hook: string, error: unknown): void {
    this.#faults.push({
      hook,
      thrown: thrownOf(error instanceof HookFault ? error : new HookFault(faultOf(error))),
    })
  }

  override run(): void {}
  override add(): void {}
  override refuse(): void {}
}

const missing = ['around', 'attempt', 'attempted', 'reveal'] as const

/** A module in its worker: runs its hooks with the kernel's own code, as a chain of one. */
export class GuestModule {
  readonly #entry: Entry
  readonly #calls: GuestCalls
  readonly #streams = new Map<number, GuestStream>()
  /** What failed and was let pass, until it is told. */
  readonly faults: Fault[] = []

  /** Throws when a hook cannot cross, or is not granted. */
  constructor({ id, stage, failure, permissions }: GuestData, hooks: Hooks, calls: GuestCalls) {
    for (const hook of missing) if (hooks[hook]) throw cannotCross(id, `the hook ${hook}`)
    const granted = grantedHooks(id, hooks, grantsOf(permissions))
    const meter = new GuestMeter(this.faults)
    this.#entry = { id, stage, failure, when: undefined, meter, hooks: granted }
    this.#calls = calls
  }

  get shape(): Shape {
    const { admit, reply, stream, detect, settled } = this.#entry.hooks
    return {
      admits: admit !== undefined,
      requests: asks(this.#entry),
      detects: detect?.request !== undefined,
      replies: (reply ?? detect?.reply) !== undefined,
      streams: (reply ?? stream ?? detect?.reply) !== undefined,
      settles: settled !== undefined,
    }
  }

  /** Does what is asked; rejects with what the hook threw when that is not to be let pass. */
  async run(job: Exclude<Job, { do: 'leave' | 'remember' }>): Promise<{ value?: unknown; call?: Call }> {
    if (job.do === 'admit') return { value: this.#entry.hooks.admit!(job.visit) }
    const call = this.#calls.callOf(job.call)
    switch (job.do) {
      case 'request':
        return { value: await this.#request(call), call }
      case 'reply': {
        const reply = WholeReply.of(job.body)
        const after = await rewritten(reply, [this.#entry], call)
        return { value: after === reply ? undefined : await collect(after), call }
      }
      case 'stream': {
        const stream = this.#streams.get(job.pipe) ?? (await GuestStream.begin(this.#entry, call))
        this.#streams.set(job.pipe, stream)
        const value = await stream.push(job.chunks, job.end)
        if (!value.over) return { value }
        this.#streams.delete(job.pipe)
        // What a stream adds to the trail it may still change until its end.
        return { value, call }
      }
      case 'settled':
        await this.#entry.hooks.settled!(outcomeOf(job.outcome), call)
        return { call }
    }
  }

  drop(pipe: number): void {
    this.#streams.get(pipe)?.drop()
    this.#streams.delete(pipe)
  }

  async #request(call: Call): Promise<Step> {
    const step = await inspected(this.#entry, call, () => [])
    if (step === undefined) return undefined
    return 'kind' in step ? { body: await collect(step) } : { change: changeOf(call, step) }
  }
}

function outcomeOf({ body, error, ...rest }: Extract<Job, { do: 'settled' }>['outcome']): Outcome {
  const thrown = error && errorOf(error)
  return {
    ...rest,
    error: thrown instanceof GatewayError ? thrown : undefined,
    body: () => body,
    json: () => body && JSON.stringify(body),
  }
}
