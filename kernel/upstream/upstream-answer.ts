import type { Dispatcher } from 'undici'
import type { Timeouts } from '../call/call.ts'
import type { Cancel } from '../call/cancel.ts'
import type { Cohort } from '../cohort.ts'
import { Countdown } from '../countdown.ts'
import { UpstreamError } from '../errors.ts'
import type { Target, UpstreamHead } from './provider.ts'

/** Bytes that may wait for a slow reader before the provider's socket is paused. */
const highWater = 1024 * 1024
/** A plain answer larger than this is not an answer. */
const maxWhole = 256 * 1024 * 1024

type Bytes = readonly Buffer[] | undefined

interface UpstreamAnswerParts {
  readonly target: Target
  readonly cancel: Cancel
  readonly timeouts: Timeouts
  readonly cohort: Cohort
}

/**
 * One answer on its way: read it whole, or batch by batch as bytes come. Times out where nothing happens for too
 * long, pauses the provider when the reader is slow, and ends when the call is cancelled.
 */
export class UpstreamAnswer implements Dispatcher.DispatchHandler, UpstreamHead {
  status = 0
  headers: Record<string, string> = {}
  readonly #target: Target
  readonly #timeouts: Timeouts
  readonly #cohort: Cohort
  readonly #countdown = new Countdown((what, ms) =>
    this.#fail(this.#error('timeout', `gave ${what} within ${ms} ms`)),
  )
  readonly #head = Promise.withResolvers<this>()
  readonly #forget: () => void
  #controller: Dispatcher.DispatchController | undefined
  #queue: Buffer[] = []
  #queued = 0
  #collecting = false
  #ended = false
  #failure: Error | undefined
  #wake: (() => void) | undefined

  constructor({ target, cancel, timeouts, cohort }: UpstreamAnswerParts) {
    this.#target = target
    this.#timeouts = timeouts
    this.#cohort = cohort
    this.#forget = cancel.onAbort((reason) => this.#fail(reason))
  }

  get head(): Promise<this> {
    return this.#head.promise
  }

  /** All of it. A promise only when it must be waited for. */
  whole(): Buffer | Promise<Buffer> {
    this.#collecting = true
    if (this.#queued > highWater) this.#resume()
    return this.#ended || this.#failure ? this.#collected() : this.#complete()
  }

  async #complete(): Promise<Buffer> {
    while (!this.#ended && !this.#failure) await this.#more()
    return this.#collected()
  }

  #collected(): Buffer {
    if (this.#failure) throw this.#failure
    return this.#queue.length === 1 ? this.#queue[0]! : Buffer.concat(this.#queue)
  }

  /** The bytes that have come since the last read; undefined at the end. A promise only when they must be waited for. */
  read(): Bytes | Promise<Bytes> {
    if (this.#queue.length === 0) {
      if (this.#failure) throw this.#failure
      return this.#ended ? undefined : this.#more().then(() => this.read())
    }
    const batch = this.#queue
    const paused = this.#queued > highWater
    this.#queue = []
    this.#queued = 0
    if (paused) this.#resume()
    return batch
  }

  /** Stops reading; the connection is closed unless the answer is complete. */
  cancel(): void {
    if (!this.#ended) this.#fail(new Error('the answer is not wanted any more'))
  }

  /** Counts from now on the time until there is a connection, unless there is one already. */
  connecting(): void {
    if (!this.#controller && !this.#failure) this.#countdown.set(this.#timeouts.connectMs, 'no connection')
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#failure) controller.abort(this.#failure)
    else this.#countdown.set(this.#timeouts.firstByteMs, 'no answer')
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
    this.#countdown.set(this.#timeouts.idleMs, 'nothing more')
    this.#cohort.gather(() => this.#head.resolve(this))
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.#countdown.renew()
    this.#queue.push(bytes)
    this.#queued += bytes.length
    if (this.#queued > highWater && !this.#collecting) this.#pause(controller)
    if (this.#queued > maxWhole) this.#fail(this.#error('protocol', 'sent an answer that is too large'))
    this.#notifyTogether()
  }

  onResponseEnd(): void {
    this.#ended = true
    this.#release()
    this.#notifyTogether()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(this.#error('network', `could not be reached or broke off (${describe(error)})`, error))
  }

  #fail(error: Error): void {
    if (this.#failure || this.#ended) return
    this.#failure = error
    this.#release()
    this.#head.promise.catch(() => {})
    this.#head.reject(error)
    this.#controller?.abort(error)
    this.#notify()
  }

  /** While it waits for the reader, a provider cannot be late. */
  #pause(controller: Dispatcher.DispatchController): void {
    controller.pause()
    this.#countdown.clear()
  }

  #resume(): void {
    if (this.#ended || this.#failure) return
    this.#controller?.resume()
    this.#countdown.set(this.#timeouts.idleMs, 'nothing more')
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

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #notifyTogether(): void {
    if (this.#wake) this.#cohort.gather(() => this.#notify())
  }

  #notify(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  #release(): void {
    this.#countdown.clear()
    this.#forget?.()
  }
}

const describe = (error: Error): string => ('code' in error ? String(error.code) : error.name)
