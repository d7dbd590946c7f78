import { type Dispatcher, Pool } from 'undici'
import type { Timeouts } from './call.ts'
import type { Cancel } from './cancel.ts'
import { UpstreamError } from './errors.ts'
import type { Target, UpstreamHead, UpstreamRequest } from './provider.ts'

/** Bytes that may wait for a slow reader before the provider's socket is paused. */
const highWater = 1024 * 1024
/** A plain answer larger than this is not an answer. */
const maxWhole = 256 * 1024 * 1024

/** Connections to providers, one pool for each origin. */
export class Transport {
  readonly #pools = new Map<string, Pool>()

  /** Sends a request; resolves when the status line is there. Rejects with an UpstreamError or the cancel's reason. */
  send(
    request: UpstreamRequest,
    target: Target,
    cancel: Cancel,
    timeouts: Timeouts,
  ): Promise<UpstreamAnswer> {
    const url = new URL(request.url)
    const answer = new UpstreamAnswer(target, cancel, timeouts)
    this.#pool(url.origin).dispatch(
      {
        path: url.pathname + url.search,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      answer,
    )
    return answer.head
  }

  /** Closes every connection; what still runs is cut. */
  async close(): Promise<void> {
    const pools = [...this.#pools.values()]
    this.#pools.clear()
    await Promise.all(pools.map((pool) => pool.destroy()))
  }

  #pool(origin: string): Pool {
    let pool = this.#pools.get(origin)
    if (!pool) {
      pool = new Pool(origin, { connections: 1024, connectTimeout: 60_000, keepAliveTimeout: 30_000 })
      this.#pools.set(origin, pool)
    }
    return pool
  }
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
  readonly #head = Promise.withResolvers<this>()
  readonly #forget: () => void
  #controller: Dispatcher.DispatchController | undefined
  #timer: NodeJS.Timeout | undefined
  #queue: Buffer[] = []
  #queued = 0
  #collecting = false
  #ended = false
  #failure: Error | undefined
  #wake: (() => void) | undefined

  constructor(target: Target, cancel: Cancel, timeouts: Timeouts) {
    this.#target = target
    this.#timeouts = timeouts
    this.#arm(timeouts.connectMs, 'no connection')
    this.#forget = cancel.onAbort((reason) => this.#fail(reason))
  }

  get head(): Promise<this> {
    return this.#head.promise
  }

  /** All of it. */
  async whole(): Promise<Buffer> {
    this.#collecting = true
    this.#controller?.resume()
    while (!this.#ended && !this.#failure) await this.#more()
    if (this.#failure) throw this.#failure
    return this.#queue.length === 1 ? this.#queue[0]! : Buffer.concat(this.#queue)
  }

  /** The bytes that have come since the last read; undefined at the end. */
  async read(): Promise<readonly Buffer[] | undefined> {
    while (this.#queue.length === 0) {
      if (this.#failure) throw this.#failure
      if (this.#ended) return undefined
      await this.#more()
    }
    const batch = this.#queue
    this.#queue = []
    if (this.#queued > highWater) this.#controller?.resume()
    this.#queued = 0
    return batch
  }

  /** Stops reading; the connection is closed unless the answer is complete. */
  cancel(): void {
    if (!this.#ended) this.#fail(new Error('the answer is not wanted any more'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#failure) controller.abort(this.#failure)
    else this.#arm(this.#timeouts.firstByteMs, 'no answer')
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
      if (value !== undefined) this.headers[name] = typeof value === 'string' ? value : value.at(-1)!
    }
    this.#arm(this.#timeouts.idleMs, 'nothing more')
    this.#head.resolve(this)
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.#timer?.refresh()
    this.#queue.push(bytes)
    this.#queued += bytes.length
    if (this.#queued > highWater && !this.#collecting) controller.pause()
    if (this.#queued > maxWhole) this.#fail(this.#error('protocol', 'sent an answer that is too large'))
    this.#notify()
  }

  onResponseEnd(): void {
    this.#ended = true
    this.#release()
    this.#notify()
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

  #arm(ms: number | undefined, what: string): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (ms === undefined) return
    this.#timer = setTimeout(() => this.#fail(this.#error('timeout', `gave ${what} within ${ms} ms`)), ms)
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

  #notify(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  #release(): void {
    clearTimeout(this.#timer)
    this.#forget?.()
  }
}

const describe = (error: Error): string => ('code' in error ? String(error.code) : error.name)
