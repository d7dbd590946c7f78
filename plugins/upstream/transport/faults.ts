import type { Dispatcher } from 'undici'
import type { Fault } from '#kernel'
import { contain } from '#kit'
import type { UpstreamAnswer } from './upstream-answer.ts'

type Step = () => void

/** Plays an answer that no provider gave; false when the fault needs an answer of one. */
export function playFault(answer: UpstreamAnswer, fault: Fault): boolean {
  if (fault.kind !== 'status' && fault.kind !== 'reset') return false
  queueMicrotask(
    contain('an injected fault', () => {
      answer.onRequestStart(noConnection)
      if (fault.kind === 'reset') {
        answer.onResponseError(noConnection, broken())
        return
      }
      const { status, retryAfterS } = fault
      const after = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
      answer.onResponseStart(noConnection, status, { 'content-type': 'application/json', ...after })
      answer.onResponseData(noConnection, Buffer.from(errorBody(status)))
      answer.onResponseEnd()
    }),
  )
  return true
}

/** An answer of a provider with a fault on its way. */
export class FaultyAnswer implements Dispatcher.DispatchHandler {
  readonly #answer: UpstreamAnswer
  readonly #fault: Fault
  readonly #began = performance.now()
  /** What has come and has not been passed on. */
  readonly #held: { readonly step: Step; readonly delayMs: number }[] = []
  #timer: NodeJS.Timeout | undefined
  #bytes = 0

  constructor(answer: UpstreamAnswer, fault: Fault) {
    this.#answer = answer
    this.#fault = fault
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#answer.onRequestStart(controller)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    const fault = this.#fault
    const waitMs = fault.kind === 'latency' ? fault.ms - (performance.now() - this.#began) : 0
    this.#pass(() => this.#answer.onResponseStart(controller, status, headers), waitMs)
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    const fault = this.#fault
    const pass = (part: Buffer, delayMs = 0): void =>
      this.#pass(() => this.#answer.onResponseData(controller, part), delayMs)
    if (fault.kind === 'malformed') pass(withoutBraces(bytes))
    else if (fault.kind === 'drip') {
      for (let at = 0; at < bytes.length; at += fault.bytes)
        pass(bytes.subarray(at, at + fault.bytes), fault.gapMs)
    } else if (fault.kind === 'truncated') {
      const room = fault.afterBytes - this.#bytes
      this.#bytes += bytes.length
      if (room > 0) pass(bytes.subarray(0, room))
      if (this.#bytes >= fault.afterBytes) controller.abort(broken())
    } else pass(bytes)
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    if (this.#fault.kind === 'truncated') this.onResponseError(controller, broken())
    else this.#pass(() => this.#answer.onResponseEnd())
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#timer)
    this.#held.length = 0
    this.#answer.onResponseError(controller, error)
  }

  /** Passes something on after what is held back, and so much later. */
  #pass(step: Step, delayMs = 0): void {
    if (delayMs <= 0 && this.#held.length === 0) step()
    else {
      this.#held.push({ step, delayMs })
      if (this.#held.length === 1) this.#wait()
    }
  }

  #wait(): void {
    this.#timer = setTimeout(
      contain('an injected fault', () => this.#release()),
      Math.max(0, this.#held[0]!.delayMs),
    )
  }

  #release(): void {
    if (this.#answer.isOver) this.#held.length = 0
    this.#held.shift()?.step()
    while (this.#held[0] && this.#held[0].delayMs <= 0) this.#held.shift()!.step()
    if (this.#held.length > 0) this.#wait()
  }
}

const noConnection: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort: () => {},
  pause: () => {},
  resume: () => {},
}

const broken = (): Error => Object.assign(new Error('injected fault'), { code: 'ECONNRESET' })

/** An error that is understood wherever an error has a message. */
const errorBody = (status: number): string =>
  JSON.stringify({
    type: 'error',
    error: {
      type: status === 429 ? 'rate_limit_error' : 'api_error',
      message: 'This fault was injected by the gateway.',
      code: status,
    },
  })

const brace = '}'.charCodeAt(0)

const withoutBraces = (bytes: Buffer): Buffer =>
  Buffer.from(bytes.map((byte) => (byte === brace ? 0x20 : byte)))
