import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { HookFault } from '../../chain/hook-fault.ts'
import { badRequest } from '../../errors.ts'
import type { GuestData, Job, Shape, ToGuest, ToHost } from './messages.ts'

/** Bounds of a worker. */
export interface WorkerLimits {
  /** Bytes of JavaScript objects; who needs more is ended. */
  readonly memory: number
  /** Milliseconds without a sign of life while something is asked of it, until it is ended. */
  readonly hang: number
  /** Milliseconds until it is set up. */
  readonly start: number
}

export const defaultWorkerLimits: WorkerLimits = { memory: 128 * 1024 * 1024, hang: 5_000, start: 30_000 }

/** What came of a job. */
export type Done = Extract<ToHost, { kind: 'done' }>

interface Waiting {
  resolve(done: Done): void
  reject(error: Error): void
}

interface Options {
  readonly data: () => GuestData
  readonly limits: WorkerLimits
  /** Told what the worker says of its own accord. */
  readonly heard: (message: ToHost) => void
  /** Told when the worker ended although nobody asked it to. */
  readonly down: (reason: string) => void
}

const leaveMs = 1_000
const mb = 1024 * 1024

/**
 * One plugin in a worker thread of its own. What is asked in one turn of the event loop crosses together. A worker that
 * ends, runs out of memory or gives no sign of life fails what was asked of it; the next thing asked starts another.
 */
export class WorkerHost {
  readonly #options: Options
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #ready: Promise<Shape> | undefined
  #outbox: ToGuest[] = []
  #count = 0
  #timer: NodeJS.Timeout | undefined
  #pingedAt: number | undefined
  #closed = false
  /** Counts the workers there were. */
  born = 0

  constructor(options: Options) {
    this.#options = options
  }

  /** Resolves with what its module does, when it is set up. */
  start(): Promise<Shape> {
    this.#ready ??= this.#spawn().catch((error) => {
      this.#ready = undefined
      throw error
    })
    return this.#ready
  }

  /** Has the worker do something; rejects with a HookFault when it ends before that. */
  async run(job: Job): Promise<Done> {
    if (!this.#worker) await this.start()
    return this.#ask(job)
  }

  post(message: ToGuest): void {
    if (!this.#worker) return
    this.#outbox.push(message)
    if (this.#outbox.length === 1) setImmediate(() => this.#flush())
  }

  /** Ends the worker after it has given back what it holds; resolves with what it wants remembered. */
  async close(): Promise<Readonly<Record<string, unknown>> | undefined> {
    this.#closed = true
    if (!this.#worker) return undefined
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, leaveMs, undefined).unref())
    const done = await Promise.race([this.#ask({ do: 'leave' }).catch(() => undefined), late])
    this.#end('it was switched off')
    return done?.value as Readonly<Record<string, unknown>> | undefined
  }

  /** Ends the worker as it is. */
  abandon(): void {
    this.#closed = true
    this.#end('nobody needs it any more')
  }

  #ask(job: Job): Promise<Done> {
    this.#count += 1
    const id = this.#count
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.post({ kind: 'job', id, job })
      this.#watch()
    })
  }

  #spawn(): Promise<Shape> {
    const { data, limits, heard } = this.#options
    const worker = new Worker(new URL(`./guest${path.extname(import.meta.url)}`, import.meta.url), {
      name: data().id,
      workerData: data(),
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(limits.memory / mb), stackSizeMb: 4 },
    })
    worker.unref()
    this.#worker = worker
    this.born += 1
    const started = Promise.withResolvers<Shape>()
    const timer = setTimeout(
      () => this.#end(`it was not ready within ${limits.start / 1000} s`, worker),
      limits.start,
    )
    worker.on('message', (messages: readonly ToHost[]) => {
      for (const message of messages) {
        if (message.kind === 'ready') started.resolve(message.shape)
        else if (message.kind === 'refused') started.reject(refusalOf(message))
        else if (message.kind === 'done') this.#settle(message)
        else if (message.kind === 'pong') this.#pingedAt = undefined
        else heard(message)
      }
    })
    worker.on('error', (error) => this.#end(reasonOf(error), worker))
    worker.on('exit', (code) => this.#end(`it ended with code ${code}`, worker))
    this.#failStart = (reason) => started.reject(new HookFault(`the worker did not start: ${reason}`))
    return started.promise.finally(() => clearTimeout(timer))
  }

  #failStart: (reason: string) => void = () => {}

  #settle(done: Done): void {
    const waiting = this.#waiting.get(done.id)
    this.#waiting.delete(done.id)
    waiting?.resolve(done)
  }

  /** Posts what gathered; what cannot cross fails alone. */
  #flush(): void {
    const messages = this.#outbox
    this.#outbox = []
    try {
      this.#worker?.postMessage(messages)
    } catch {
      for (const message of messages) this.#postAlone(message)
    }
  }

  #postAlone(message: ToGuest): void {
    try {
      this.#worker?.postMessage([message])
    } catch {
      if (message.kind !== 'job') return
      this.#waiting.get(message.id)?.reject(new HookFault('what it is to be given cannot cross to a worker'))
      this.#waiting.delete(message.id)
    }
  }

  /** Looks for a sign of life while something is waited for. */
  #watch(): void {
    this.#timer ??= setInterval(() => this.#look(), Math.ceil(this.#options.limits.hang / 2)).unref()
  }

  #look(): void {
    const { hang } = this.#options.limits
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      this.#pingedAt = undefined
    } else if (this.#pingedAt === undefined) {
      this.#pingedAt = performance.now()
      this.post({ kind: 'ping' })
    } else if (performance.now() - this.#pingedAt >= hang) {
      this.#end(`it gave no sign of life for ${hang} ms`)
    }
  }

  #end(reason: string, worker = this.#worker): void {
    if (!worker || worker !== this.#worker) return
    this.#worker = undefined
    this.#ready = undefined
    this.#outbox = []
    this.#pingedAt = undefined
    clearInterval(this.#timer)
    this.#timer = undefined
    void worker.terminate()
    this.#failStart(reason)
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    if (!this.#closed) this.#options.down(`its worker was lost: ${reason}`)
    for (const { reject } of waiting) reject(new HookFault(`its worker was lost: ${reason}`))
  }
}

function refusalOf({ message, param }: Extract<ToHost, { kind: 'refused' }>): Error {
  return param === undefined ? new Error(message) : badRequest(message, { param })
}

function reasonOf(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException
  return code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it used more memory than it may' : `${name} was thrown in it`
}

/** Starts a worker only to learn which settings its plugin takes, as a JSON Schema. */
export function describeInWorker(
  data: GuestData,
  limits = defaultWorkerLimits,
): Promise<Record<string, unknown> | undefined> {
  const described = Promise.withResolvers<Record<string, unknown> | undefined>()
  const host = new WorkerHost({
    data: () => data,
    limits,
    heard: (message) => {
      if (message.kind === 'described') described.resolve(message.schema)
    },
    down: () => {},
  })
  host.start().catch(described.reject)
  return described.promise.finally(() => host.abandon())
}
