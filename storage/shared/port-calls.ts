import type { MessagePort } from 'node:worker_threads'
import { StoreError, type StoreErrorCode } from '../errors.ts'

interface Failure {
  readonly name: string
  readonly message: string
  readonly code?: StoreErrorCode
}

type Message =
  | { readonly call: number; readonly body: unknown }
  | { readonly answer: number; readonly body: unknown }
  | { readonly answer: number; readonly failure: Failure }

/**
 * Calls between two threads, both ways over one port. They arrive in the order in which they are made. When the port is
 * closed, or the other thread ends, what waits for an answer rejects with `STORE_CLOSED`, and so do later calls.
 */
export class PortCalls {
  readonly #port: MessagePort
  readonly #handle: (body: unknown) => unknown
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  readonly #closed = Promise.withResolvers<void>()
  #isClosed = false
  #count = 0

  /** `handle` answers what the other side calls. */
  constructor(port: MessagePort, handle: (body: unknown) => unknown) {
    this.#port = port
    this.#handle = handle
    port.on('message', (message: Message) => {
      try {
        this.#take(message)
      } catch {
        // Not a message of ours: there is no call to fail for it.
      }
    })
    port.on('close', () => this.#end())
  }

  /** Resolves when the other side is gone, or this one was closed. */
  get closed(): Promise<void> {
    return this.#closed.promise
  }

  call(body: unknown): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(gone())
    this.#count += 1
    const answer = Promise.withResolvers<unknown>()
    this.#waiting.set(this.#count, answer)
    try {
      this.#port.postMessage({ call: this.#count, body } satisfies Message)
    } catch (error) {
      this.#waiting.delete(this.#count)
      answer.reject(error)
    }
    return answer.promise
  }

  close(): void {
    this.#port.close()
    this.#end()
  }

  #take(message: Message): void {
    if ('call' in message) {
      this.#answer(message.call, message.body).catch(() => {})
      return
    }
    const waiting = this.#waiting.get(message.answer)
    this.#waiting.delete(message.answer)
    if ('failure' in message) waiting?.reject(errorOf(message.failure))
    else waiting?.resolve(message.body)
  }

  async #answer(answer: number, given: unknown): Promise<void> {
    try {
      const body = await this.#handle(given)
      this.#port.postMessage({ answer, body } satisfies Message)
    } catch (error) {
      this.#port.postMessage({ answer, failure: failureOf(error) } satisfies Message)
    }
  }

  #end(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const { reject } of this.#waiting.values()) reject(gone())
    this.#waiting.clear()
    this.#closed.resolve()
  }
}

const gone = (): StoreError => new StoreError('STORE_CLOSED', 'The thread that has the store is gone.')

function failureOf(error: unknown): Failure {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) }
  return { name, message, ...(error instanceof StoreError && { code: error.code }) }
}

function errorOf({ name, message, code }: Failure): Error {
  if (code !== undefined) return new StoreError(code, message)
  const error = new Error(message)
  error.name = name
  return error
}
