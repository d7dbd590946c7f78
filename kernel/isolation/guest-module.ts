import { ShortLived } from '../../storage/shared/short-lived.ts'
import type { Call } from '../call/call.ts'
import { WholeReply } from '../call/reply.ts'
import type { Entry } from '../chain/entry.ts'
import type { Hooks } from '../chain/hooks.ts'
import { inspected, asks as looks } from '../chain/inspect.ts'
import { readOnlyHooks } from '../chain/read-only.ts'
import { revealed, rewritten } from '../chain/rewrite.ts'
import { isGatewayError } from '../errors.ts'
import { HookFault } from '../hook-fault.ts'
import { grantedHooks } from '../permissions/granted.ts'
import { grantsOf } from '../permissions/permissions.ts'
import { collect } from '../stream/collect.ts'
import { type CallView, outcomeOf } from './call-view.ts'
import { GuestAround } from './guest-around.ts'
import type { GuestAsks } from './guest-asks.ts'
import type { GuestCall, GuestCalls } from './guest-calls.ts'
import { GuestMeter } from './guest-meter.ts'
import { GuestStream } from './guest-stream.ts'
import type { Fault, GuestData, Job, Shape, Step } from './messages.ts'

/** What a job came to, and the call it was for. */
export interface Ran {
  readonly value?: unknown
  readonly known?: GuestCall | undefined
  /** Whether the answer as it may be recorded is there. */
  readonly isOver?: boolean
}

/** A module in its worker: runs its hooks with the kernel's own code, as a chain of one. */
export class GuestModule {
  readonly #entry: Entry
  readonly #meter = new GuestMeter()
  readonly #calls: GuestCalls
  readonly #asks: GuestAsks
  readonly #streams = new ShortLived<number, GuestStream>()

  /** Throws when a hook is not granted. */
  constructor(data: GuestData, hooks: Hooks, calls: GuestCalls, asks: GuestAsks) {
    const { id, stage, failure, permissions } = data
    const granted = grantedHooks(id, readOnlyHooks(hooks), grantsOf(permissions))
    this.#entry = { id, stage, failure, when: undefined, meter: this.#meter, hooks: granted }
    this.#calls = calls
    this.#asks = asks
  }

  get shape(): Shape {
    const { hooks } = this.#entry
    const { reply, stream, detect } = hooks
    return {
      admits: hooks.admit !== undefined,
      requests: looks(this.#entry),
      pure: hooks.pure === true,
      detects: detect?.request !== undefined,
      arounds: hooks.around !== undefined,
      attempt: hooks.attempt !== undefined,
      attempted: hooks.attempted !== undefined,
      replies: (reply ?? detect?.reply) !== undefined,
      streams: (reply ?? stream ?? detect?.reply) !== undefined,
      reveals: hooks.reveal !== undefined,
      settles: hooks.settled !== undefined,
    }
  }

  /** What failed and was let pass, since this was last asked. */
  takeFaults(): Fault[] {
    return this.#meter.faults.splice(0)
  }

  /** Whether an error that a job ended with is the module's word, and not its failure. */
  isRefusal(error: unknown): boolean {
    return isGatewayError(error) && !this.#meter.hasFailed(error.cause)
  }

  /** Does what is asked; rejects with what the hook threw when that is not to be let pass. */
  async run(job: Exclude<Job, { do: 'leave' | 'remember' | 'event' | 'news' }>): Promise<Ran> {
    const { hooks } = this.#entry
    if (job.do === 'admit') return { value: await hooks.admit!(job.visit) }
    if ('of' in job) return this.#streamed(job)
    const call = this.#calls.callOf(job.call)
    const known = this.#calls.find(call.id)!
    switch (job.do) {
      case 'request':
        return { value: await this.#request(call), known }
      case 'around': {
        const around = new GuestAround(job.run, { call, known, calls: this.#calls, asks: this.#asks })
        known.arounds.set(job.run, around)
        return { value: await around.reply(hooks.around!), known }
      }
      case 'attempt': {
        const headers = { ...job.headers }
        await hooks.attempt!(known.copy.attemptOf(job.attempt), call, headers)
        return { value: headers, known }
      }
      case 'attempted':
        await hooks.attempted!(known.copy.attemptOf(job.attempt), call)
        return { known }
      case 'reply':
      case 'reveal': {
        const reply = WholeReply.of(job.body)
        const step = job.do === 'reply' ? rewritten : revealed
        const after = await step(reply, [this.#entry], call)
        return { value: after === reply ? undefined : await collect(after), known }
      }
      case 'settled':
        await hooks.settled!(outcomeOf(job.outcome, known.errors), call)
        return { known }
    }
  }

  /** Goes on with a stream, or does not. */
  async #streamed(job: Extract<Job, { of: string }>): Promise<Ran> {
    if (job.do === 'stream') return this.#stream(job)
    const known = this.#calls.find(job.of)
    if (job.do === 'drop') {
      this.#streams.take(job.pipe)?.drop()
      return { known, isOver: true }
    }
    const around = known?.arounds.get(job.run)
    if (!around) throw new HookFault('the call is over')
    if (job.do === 'release') return { value: await around.release(job.stream), known }
    const value = await around.pull(job.stream)
    return value.isOver ? { value, known, isOver: true } : { value }
  }

  async #request(call: Call): Promise<Step> {
    const step = await inspected(this.#entry, call, () => [])
    if (step === undefined) return undefined
    return 'kind' in step ? { body: await collect(step) } : { change: this.#calls.changeOf(call, step) }
  }

  async #stream({ of, call, pipe, reveals, batch, end }: Extract<Job, { do: 'stream' }>): Promise<Ran> {
    const stream = this.#streams.get(pipe) ?? (await this.#begin(call, reveals))
    this.#streams.set(pipe, stream)
    const value = await stream.push(batch, end)
    if (!value.over) return { value }
    this.#streams.take(pipe)
    // What a stream adds to the trace it may still change until its end.
    return { value, known: this.#calls.find(of), isOver: true }
  }

  async #begin(view: CallView | undefined, reveals: boolean): Promise<GuestStream> {
    if (!view) throw new HookFault('the stream is over')
    const call = this.#calls.callOf(view)
    const step = reveals ? revealed : rewritten
    return GuestStream.begin((reply) => step(reply, [this.#entry], call))
  }
}
