import type { Transferable } from 'node:worker_threads'
import { StoreError, type StoreErrorCode } from '../errors.ts'
import { Mailbox, type Port } from './mailbox.ts'
import { ShortLived } from './short-lived.ts'

/** A table of methods: each takes one argument, and answers a value or a promise of one. Write it as a type, not an interface. */
export type Methods = Readonly<Record<string, (argument: never) => unknown>>

export type Argument<F> = F extends (argument: infer A) => unknown ? A : undefined
export type Result<F> = F extends (argument: never) => infer R ? Awaited<R> : never

/** A request that is being answered. */
export interface Serving {
  /** Aborts when the other side does not want the answer any more, or is gone. */
  readonly signal: AbortSignal
}

/** What answers the methods of a table. */
export type Handlers<M extends Methods> = {
  readonly [K in keyof M]: (
    argument: Argument<M[K]>,
    serving: Serving,
  ) => Result<M[K]> | Promise<Result<M[K]>>
}

export interface CallOptions {
  /** Aborts when the answer is not wanted any more; the other side gets to know, and answers all the same. */
  readonly signal?: AbortSignal | undefined
  /** What changes hands with the argument. */
  readonly transfer?: readonly Transferable[]
}

export interface RpcOptions {
  /** Sends what one turn of the event loop says together. What is said must not be changed afterwards. */
  readonly gathers?: boolean
  /** How errors cross; by their name and message, and a code of the store, by default. */
  readonly errors?: ErrorCodec
  /** What a call rejects with that cannot cross; the reason that the runtime gives, by default. */
  readonly uncloneable?: (cause: unknown) => Error
  /** Called with errors that no caller waits for: failed notifications and invalid messages. */
  readonly failed?: (error: unknown) => void
}

export interface ErrorCodec {
  encode(error: unknown): unknown
  decode(encoded: never): unknown
}

type Message =
  | { readonly call: number; readonly method: string; readonly argument: unknown }
  | { readonly notify: string; readonly argument: unknown }
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly error: unknown }
  | { readonly cancel: number }
  | { readonly sign: 'ping' | 'pong' | 'unread' }

/**
 * Requests, their answers and notifications between two threads, both ways over one port. They arrive in the order in which
 * they are made. When the port is closed, or the other thread ends, what waits for an answer rejects, and so do later calls.
 */
export class RpcPort<Theirs extends Methods, Ours extends Methods> {
  readonly #mailbox: Mailbox<Message>
  readonly #methods: Handlers<Ours>
  readonly #options: RpcOptions
  readonly #waiting = new ShortLived<number, PromiseWithResolvers<unknown>>()
  readonly #serving = new ShortLived<number, Served>()
  readonly #closed = Promise.withResolvers<void>()
  readonly #fail = (error: unknown): void => this.#options.failed?.(error)
  #gone: Error | undefined
  #count = 0
  #heardAt = Number.NEGATIVE_INFINITY

  /** `methods` answers what the other side asks; only a table's own properties can be asked for. */
  constructor(port: Port, methods: Handlers<Ours>, options: RpcOptions = {}) {
    this.#methods = methods
    this.#options = options
    this.#mailbox = new Mailbox(port, {
      gathers: options.gathers ?? false,
      refused: (message, cause) => this.#refuse(message, cause),
    })
    port.on('message', (messages) => this.#take(messages as readonly Message[]))
    port.on('messageerror', () => this.#post({ sign: 'unread' }))
    port.on('close', () => this.close())
  }

  /** Resolves when the other side is gone, or this one was closed. */
  get closed(): Promise<void> {
    return this.#closed.promise
  }

  /** Calls that wait for their answer. */
  get pending(): number {
    return this.#waiting.size
  }

  /** When the other side last gave a sign of life, by `performance.now()`. */
  get heardAt(): number {
    return this.#heardAt
  }

  /** Resolves with the answer. Rejects with what was thrown there, or when the other side is gone. */
  call<K extends keyof Theirs & string>(
    method: K,
    argument: Argument<Theirs[K]>,
    { signal, transfer = [] }: CallOptions = {},
  ): Promise<Result<Theirs[K]>> {
    if (this.#gone) return Promise.reject(this.#gone)
    this.#count += 1
    const call = this.#count
    const answer = Promise.withResolvers<unknown>()
    this.#waiting.set(call, answer)
    this.#post({ call, method, argument }, transfer)
    const promise = answer.promise as Promise<Result<Theirs[K]>>
    if (!signal) return promise
    const cancel = (): void => this.#post({ cancel: call })
    signal.addEventListener('abort', cancel, { once: true })
    if (signal.aborted) cancel()
    return promise.finally(() => signal.removeEventListener('abort', cancel))
  }

  /** Says something that nothing is answered to. */
  notify<K extends keyof Theirs & string>(
    notify: K,
    argument: Argument<Theirs[K]>,
    transfer: readonly Transferable[] = [],
  ): void {
    this.#post({ notify, argument }, transfer)
  }

  /** Asks for a sign of life: `heardAt` moves on when there is one. */
  ping(): void {
    this.#post({ sign: 'ping' })
  }

  /** Ends this side: what waits rejects with the reason, and what is being answered is not wanted any more. */
  close(reason: Error = gone()): void {
    if (this.#gone) return
    this.#gone = reason
    this.#mailbox.clear()
    for (const request of this.#serving.takeAll()) request.cancel()
    for (const { reject } of this.#waiting.takeAll()) reject(reason)
    this.#closed.resolve()
  }

  #take(messages: readonly Message[]): void {
    if (this.#gone) return
    this.#heardAt = performance.now()
    for (const message of Array.isArray(messages) ? messages : [messages]) {
      try {
        this.#hear(message)
      } catch (error) {
        this.#fail(error)
      }
    }
  }

  #hear(message: Message): void {
    if (typeof message !== 'object' || message === null)
      throw new TypeError('a thread sent an invalid message')
    if ('answer' in message) {
      const waiting = this.#waiting.take(message.answer)
      if ('error' in message) waiting?.reject(this.#errors().decode(message.error as never))
      else waiting?.resolve(message.value)
    } else if ('call' in message)
      this.#serve(message.call, message.method, message.argument).catch(this.#fail)
    else if ('notify' in message) this.#run(message.notify, message.argument, new Served()).catch(this.#fail)
    else if ('cancel' in message) this.#serving.get(message.cancel)?.cancel()
    else if (message.sign === 'ping') this.#post({ sign: 'pong' })
    else if (message.sign === 'unread') {
      const unread = new Error('the other thread could not read the message')
      for (const { reject } of this.#waiting.takeAll()) reject(unread)
    } else if (message.sign !== 'pong') throw new TypeError('a thread sent an invalid message')
  }

  async #serve(answer: number, method: string, argument: unknown): Promise<void> {
    const request = new Served()
    this.#serving.set(answer, request)
    try {
      this.#post({ answer, value: await this.#run(method, argument, request) })
    } catch (error) {
      this.#post({ answer, error: this.#errors().encode(error) })
    } finally {
      this.#serving.take(answer)
    }
  }

  async #run(method: string, argument: unknown, served: Served): Promise<unknown> {
    if (!Object.hasOwn(this.#methods, method))
      throw new TypeError(`there is no method ${method} in this thread`)
    return this.#methods[method]!(argument as never, served)
  }

  #post(message: Message, transfer?: readonly Transferable[]): void {
    if (!this.#gone) this.#mailbox.post(message, transfer)
  }

  #refuse(message: Message, cause: unknown): void {
    const error = this.#options.uncloneable?.(cause) ?? cause
    if ('call' in message) this.#waiting.take(message.call)?.reject(error)
    else if ('answer' in message) this.#post({ answer: message.answer, error: this.#errors().encode(error) })
    else this.#fail(error)
  }

  #errors(): ErrorCodec {
    return this.#options.errors ?? plainErrors
  }
}

class Served implements Serving {
  #control: AbortController | undefined

  get signal(): AbortSignal {
    this.#control ??= new AbortController()
    return this.#control.signal
  }

  cancel(): void {
    this.#control ??= new AbortController()
    this.#control.abort()
  }
}

const gone = (): StoreError => new StoreError('STORE_CLOSED', 'The thread that has the store has ended.')

interface Failure {
  readonly name: string
  readonly message: string
  readonly code?: StoreErrorCode
}

const plainErrors = {
  encode(error: unknown): Failure {
    const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) }
    return { name, message, ...(error instanceof StoreError && { code: error.code }) }
  },
  decode({ name, message, code }: Failure): Error {
    return code === undefined ? Object.assign(new Error(message), { name }) : new StoreError(code, message)
  },
}
