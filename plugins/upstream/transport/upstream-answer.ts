import type { Dispatcher } from 'undici'
import {
  type Cancel,
  type Cohort,
  type Countdown,
  type Countdowns,
  type Target,
  type Timeouts,
  UpstreamError,
  type UpstreamHead,
} from '#kernel'
import { Arrivals } from './arrivals.ts'
import { codingOf, Unpacking } from './unpacking.ts'

/** The bounds of an answer, streamed or whole; an absent bound does not bind. */
export interface AnswerLimits {
  /** Bytes of its body, unpacked. */
  readonly maxSize?: number | undefined
  /** Milliseconds from the request to its last byte. */
  readonly maxTime?: number | undefined
}

/**
 * The bytes and the time that a provider has to end a body after the answer in it has ended; beyond them its connection is
 * closed.
 */
const remainder = { bytes: 64 * 1024, ms: 1000 }

interface UpstreamAnswerParts {
  readonly target: Target
  readonly cancel: Cancel
  readonly timeouts: Timeouts
  readonly limits: AnswerLimits
  readonly cohort: Cohort
  readonly countdowns: Countdowns
}

/**
 * One answer on its way: read it whole, or batch by batch as bytes come, unpacked in both cases. Fails where nothing
 * happens for too long and where it becomes too large or takes too long as a whole, pauses the provider when the reader
 * is slow, and ends when the call is cancelled.
 */
export class UpstreamAnswer implements Dispatcher.DispatchHandler, UpstreamHead {
  status = 0
  headers: Record<string, string> = {}
  readonly #target: Target
  readonly #timeouts: Timeouts
  readonly #cohort: Cohort
  readonly #silence: Countdown
  readonly #time: Countdown
  readonly #head = Promise.withResolvers<this>()
  readonly #forget: () => void
  readonly #arrivals: Arrivals
  /** Bytes that may still come. */
  #room: number
  #controller: Dispatcher.DispatchController | undefined
  #unpacking: Unpacking | undefined
  #isComplete = false

  constructor({ target, cancel, timeouts, limits, cohort, countdowns }: UpstreamAnswerParts) {
    this.#target = target
    this.#timeouts = timeouts
    this.#cohort = cohort
    this.#room = limits.maxSize ?? Number.POSITIVE_INFINITY
    this.#arrivals = new Arrivals(cohort, () => this.#resume())
    this.#silence = countdowns.make((what, ms) =>
      this.#fail(this.#error('timeout', `gave ${what} within ${ms} ms`)),
    )
    this.#time = countdowns.make((_, ms) =>
      this.#fail(this.#error('timeout', `did not end its answer within ${ms} ms (answers.max_time)`)),
    )
    this.#time.set(limits.maxTime)
    this.#forget = cancel.onAbort((reason) => this.#fail(reason))
  }

  get head(): Promise<this> {
    return this.#head.promise
  }

  /** Whether nothing more of it is taken in. */
  get isOver(): boolean {
    return this.#arrivals.isOver
  }

  /** All of it. A promise only when it is not there yet. */
  whole(): Buffer | Promise<Buffer> {
    return this.#arrivals.whole()
  }

  /** The bytes that have come since the last read; undefined at the end. A promise only when there are none yet. */
  read(): ReturnType<Arrivals['read']> {
    return this.#arrivals.read()
  }

  /** Stops reading; the connection is closed unless the answer is complete. */
  cancel(): void {
    // The stack of an error costs as much as several modules.
    if (!this.#isComplete && !this.isOver) this.#fail(new Error('the answer is no longer needed'))
  }

  /**
   * The answer says of itself that it is complete, so no more of it is read. A body that ends right after it leaves its
   * connection to others; one that goes on is cut.
   */
  finish(): void {
    if (this.#arrivals.isOver) return
    this.#isComplete = true
    this.#arrivals.drop()
    this.#release()
    this.#unpacking?.stop()
    this.#room = remainder.bytes
    this.#silence.set(remainder.ms)
    this.#controller?.resume()
  }

  /** Counts from now on the time until there is a connection, unless there is one already. */
  connecting(): void {
    if (!this.#controller && !this.#arrivals.isOver)
      this.#silence.set(this.#timeouts.connectMs, 'no connection')
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    const { failure } = this.#arrivals
    if (failure) controller.abort(failure)
    else this.#silence.set(this.#timeouts.firstByteMs, 'no answer')
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    this.status = status
    for (const name in headers) {
      const value = headers[name]
      if (typeof value === 'object') headers[name] = value.at(-1)
    }
    this.headers = headers as Record<string, string>
    this.#silence.set(this.#timeouts.idleMs, 'nothing more')
    const coding = codingOf(this.headers)
    if (coding !== undefined) this.#unpack(coding)
    this.#cohort.gather(() => this.#head.resolve(this))
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (!this.#isComplete) this.#silence.renew()
    if (this.#isComplete) this.#pass(bytes)
    else if (!this.#unpacking) this.#take(bytes)
    else if (!this.#arrivals.isOver && !this.#unpacking.write(bytes)) controller.pause()
  }

  onResponseEnd(): void {
    if (this.#unpacking && !this.#isComplete) this.#unpacking.end()
    else this.#end()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(this.#error('network', `could not be reached or broke off (${describe(error)})`, error))
  }

  #unpack(coding: string): void {
    this.#unpacking = Unpacking.of(coding, {
      data: (bytes) => this.#take(bytes),
      end: () => this.#end(),
      failed: (cause) =>
        this.#fail(this.#error('protocol', `sent an answer that cannot be unpacked (${coding})`, cause)),
      drained: () => this.#controller?.resume(),
    })
    if (!this.#unpacking) {
      const what = `packed its answer in a way that is not known (${coding.slice(0, 40)})`
      this.#fail(this.#error('protocol', what))
    }
  }

  #take(bytes: Buffer): void {
    this.#room -= bytes.length
    if (this.#room < 0) {
      this.#fail(this.#error('protocol', 'sent an answer that is too large (answers.max_size)'))
    } else if (!this.#arrivals.push(bytes)) this.#pause()
  }

  /** Lets bytes go by that are behind the end of the answer. */
  #pass(bytes: Buffer): void {
    this.#room -= bytes.length
    if (this.#room < 0) this.#fail(new Error('the answer continues after its end'))
  }

  #end(): void {
    this.#release()
    this.#arrivals.end()
  }

  #fail(error: Error): void {
    if (this.#arrivals.isOver) return
    this.#arrivals.fail(error)
    this.#release()
    this.#unpacking?.stop()
    this.#head.promise.catch(() => {})
    this.#head.reject(error)
    this.#controller?.abort(error)
  }

  /** While it waits for the reader, a provider cannot be late. */
  #pause(): void {
    const source = this.#unpacking ?? this.#controller
    source?.pause()
    this.#silence.clear()
  }

  #resume(): void {
    if (this.#arrivals.isOver) return
    const source = this.#unpacking ?? this.#controller
    source?.resume()
    this.#silence.set(this.#timeouts.idleMs, 'nothing more')
  }

  #error(fault: UpstreamError['fault'], what: string, cause?: Error): UpstreamError {
    const { provider, model } = this.#target
    return new UpstreamError('provider_error', `The provider ${provider.name} ${what}.`, {
      provider: provider.name,
      model,
      fault,
      retryable: true,
      ...(fault === 'timeout' && { type: 'timeout', status: 504 }),
      cause,
    })
  }

  #release(): void {
    this.#silence.clear()
    this.#time.clear()
    this.#forget?.()
  }
}

/** Errors of undici's parser have a code that is sometimes undefined. */
const describe = (error: Error & { readonly code?: unknown }): string => String(error.code ?? error.name)
