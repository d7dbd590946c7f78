import { Call } from '../kernel/call/call.ts'
import type { Trace } from '../kernel/call/trace.ts'
import type { Meter } from '../kernel/chain/meter.ts'
import { isGatewayError } from '../kit/errors.ts'
import { differences } from '../kit/json/difference.ts'
import { type Cancel, over } from '../kit/work/cancel.ts'
import { detach } from '../kit/work/contain.ts'
import { BrokenOff, Feed } from './feed.ts'

/** How long the end of a call waits for a module in shadow that is not done with it. */
const patienceMs = 5000

/**
 * One module in shadow on one call: with a trace and a cancel of its own, so that what it writes and ends is not the
 * call's. The client's answer does not wait for it.
 */
export class ShadowRun {
  readonly #id: string
  readonly #meter: Meter
  readonly #trace: Trace
  readonly #real: Call
  readonly #cancel: Cancel
  readonly #release: () => void
  readonly #feeds = new Set<Feed>()
  readonly #tasks = new Set<Promise<unknown>>()
  #request: Promise<unknown> | undefined

  constructor(id: string, meter: Meter, call: Call) {
    this.#id = id
    this.#meter = meter
    this.#real = call
    this.#trace = call.trace.aside()
    const { cancel, release } = call.cancel.child()
    this.#cancel = cancel
    this.#release = release
    call.trace.shadows ??= []
    call.trace.shadows.push(id)
  }

  /** The call as it is now, for the module to look at. */
  view(call: Call): Call {
    const { firstContentAt, cached, request, body } = call.trace
    Object.assign(this.#trace, { firstContentAt, cached, body })
    this.#trace.mayRecord(request)
    return new Call({ ...call, trace: this.#trace, cancel: this.#cancel })
  }

  /** Runs something of the module's, after its request hook; failures are the module's and go nowhere else. */
  run(hook: string, task: () => unknown): void {
    const begun = this.#request ? this.#request.then(task) : attempted(task)
    if (!(begun instanceof Promise)) return
    const done = begun.catch((error) => this.failed(hook, error))
    this.#tasks.add(done)
    if (hook === 'request') this.#request = done
    const left = done.then(() => {
      this.#tasks.delete(done)
      if (this.#request === done) this.#request = undefined
    })
    detach('a task in shadow', left)
  }

  /** A stream for the module to read, which ends with the call at the latest. */
  feed(): Feed {
    const feed = new Feed()
    this.#feeds.add(feed)
    return feed
  }

  note(verdict: string, detail?: Readonly<Record<string, unknown>>): void {
    this.#trace.note(this.#id, verdict, detail)
  }

  /** Notes where the module would have changed something, if anywhere. */
  compare(of: 'request' | 'reply' | 'timeouts' | 'headers', before: unknown, after: unknown): void {
    const paths = differences(before, after).map(({ path }) => path)
    if (paths.length > 0) this.note('changed', { of, paths })
  }

  /** A refusal that the kernel has not noted already, or a failure. */
  failed(hook: string, error: unknown): void {
    if (error instanceof BrokenOff) return
    if (!isGatewayError(error)) {
      this.#meter.fail(hook, error)
      this.note('failed', { hook })
      return
    }
    if (error.module === this.#id) return
    this.#meter.refuse(error.code)
    this.note('refused', { code: error.code, status: error.status })
  }

  /** Ends what is still open, runs the module's last hook, and tells the call's trace what it would have done. */
  async finish(last: () => unknown): Promise<void> {
    for (const feed of this.#feeds) feed.end(new BrokenOff())
    if (!(await inTime(this.#end(last)))) this.note('unfinished')
    this.#release()
    const { trace, cancel } = this.#real
    const { reason } = this.#cancel
    if (reason && reason !== cancel.reason)
      this.note('ended', isGatewayError(reason) ? { code: reason.code, status: reason.status } : {})
    const { notes, findings, decisions, headers } = this.#trace
    for (const { kind, chosen } of decisions) this.note('decided', { kind, chosen })
    if (Object.keys(headers).length > 0) this.note('headers', { names: Object.keys(headers) })
    for (const note of notes) trace.addNote({ ...note, mode: 'shadow' })
    for (const { module, ...found } of findings) trace.finding(module, found, 'shadow')
    this.#cancel.abort(over)
  }

  async #end(last: () => unknown): Promise<void> {
    await Promise.all(this.#tasks)
    try {
      await last()
    } catch (error) {
      this.#meter.fail('settled', error)
    }
  }
}

function attempted(task: () => unknown): unknown {
  try {
    return task()
  } catch (error) {
    return Promise.reject(error)
  }
}

async function inTime(done: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), patienceMs)
  timer.unref()
  const ended = await Promise.race([done.then(() => true), promise])
  clearTimeout(timer)
  return ended
}
