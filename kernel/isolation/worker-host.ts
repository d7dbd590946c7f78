import { getCompileCacheDir } from 'node:module'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { ShortLived } from '../../storage/shared/short-lived.ts'
import { contain, detach } from '../contain.ts'
import { badRequest } from '../errors.ts'
import { HookFault } from '../hook-fault.ts'
import type { GuestData, Job, Shape, ToGuest, ToHost } from './messages.ts'
import { Outbox } from './outbox.ts'
import { Pulse } from './pulse.ts'
import { thrownOf } from './thrown.ts'

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

/** What was asked of a worker that is no more. */
export class WorkerLost extends HookFault {}

interface Options {
  readonly data: () => GuestData
  readonly limits: WorkerLimits
  /** Told what the worker says of its own accord. */
  readonly heard: (message: ToHost) => void
  /** Told when the worker ended that was set up, although nobody asked it to. */
  readonly down: (reason: string) => void
}

const leaveMs = 1_000
const mb = 1024 * 1024

/** MB of a worker's young generation: messages are small, and what it has touched it keeps. */
const youngMb = 24

/**
 * One plugin in a worker thread of its own. A worker that ends, runs out of memory or gives no sign of life fails what
 * was asked of it; the next thing asked starts another.
 */
export class WorkerHost {
  readonly #options: Options
  readonly #waiting = new ShortLived<number, PromiseWithResolvers<Done>>()
  readonly #outbox: Outbox<ToGuest>
  readonly #pulse: Pulse
  #worker: Worker | undefined
  #starting: Promise<Shape> | undefined
  #failStart: (reason: string) => void = () => {}
  #isReady = false
  #isClosed = false
  #count = 0
  /** Counts the workers there were. */
  born = 0

  constructor(options: Options) {
    this.#options = options
    this.#outbox = new Outbox(
      (messages) => this.#worker?.postMessage(messages),
      (message) => this.#refuse(message),
    )
    const { hang } = options.limits
    this.#pulse = new Pulse(
      hang,
      () => this.#waiting.size > 0,
      () => this.post({ kind: 'ping' }),
      () => this.#end(`it gave no sign of life for ${hang} ms`),
    )
  }

  /** Resolves with what its module does, when it is set up. */
  async start(): Promise<Shape> {
    if (this.#isClosed) throw new WorkerLost('its worker was lost: it was switched off')
    this.#starting ??= this.#spawn()
    return this.#starting
  }

  get isReady(): boolean {
    return this.#isReady
  }

  /** Has the worker do something; rejects with a WorkerLost when it ends before that. */
  async run(job: Job): Promise<Done> {
    if (!this.#isReady) await this.start()
    return this.#ask(job)
  }

  /** Has the worker that there is do something, ready or not. */
  async now(job: Job): Promise<Done> {
    if (!this.#worker) throw new WorkerLost('its worker was lost')
    return this.#ask(job)
  }

  /** Tells the worker something, if there is one. */
  post(message: ToGuest): void {
    if (this.#worker) this.#outbox.add(message)
  }

  /** Ends the worker after it has given back what it holds; resolves with what it wants remembered. */
  async close(): Promise<Readonly<Record<string, unknown>> | undefined> {
    this.#isClosed = true
    const off = 'it was switched off'
    const late = setTimeout(
      contain('the end of a worker', () => this.#end(off)),
      leaveMs,
    )
    const done = this.#isReady ? await this.#ask({ do: 'leave' }).catch(() => undefined) : undefined
    clearTimeout(late)
    this.#end(off)
    return done?.value as Readonly<Record<string, unknown>> | undefined
  }

  /** Ends the worker as it is. */
  abandon(): void {
    this.#isClosed = true
    this.#end('nobody needs it any more')
  }

  #ask(job: Job): Promise<Done> {
    this.#count += 1
    const waiting = Promise.withResolvers<Done>()
    this.#waiting.set(this.#count, waiting)
    this.post({ kind: 'job', id: this.#count, job })
    this.#pulse.watch()
    return waiting.promise
  }

  #spawn(): Promise<Shape> {
    const { limits } = this.#options
    const data = this.#options.data()
    const worker = new Worker(new URL(`./guest${path.extname(import.meta.url)}`, import.meta.url), {
      name: data.id,
      workerData: data,
      env: compileCache(),
      execArgv: [],
      resourceLimits: {
        maxOldGenerationSizeMb: Math.ceil(limits.memory / mb),
        maxYoungGenerationSizeMb: youngMb,
        stackSizeMb: 4,
      },
    })
    worker.unref()
    this.#worker = worker
    this.born += 1
    const started = Promise.withResolvers<Shape>()
    const end = contain('the end of a worker', (reason: string) => this.#end(reason, worker))
    const late = (): void => end(`it was not ready within ${limits.start / 1000} s`)
    const timer = setTimeout(late, limits.start)
    const hear = contain(`what ${data.id} says`, (message: ToHost) => this.#hear(message, started))
    const hearAll = contain(`what ${data.id} says`, (messages: readonly ToHost[]) => {
      for (const message of messages) if (worker === this.#worker) hear(message)
    })
    const failed = contain('the end of a worker', (error: unknown) => end(reasonOf(error)))
    worker.on('message', hearAll)
    worker.on('messageerror', () => end('it said something that cannot be read'))
    worker.on('error', failed)
    worker.on('exit', (code) => end(`it ended with code ${code}`))
    this.#failStart = (reason) => started.reject(new HookFault(`the worker did not start: ${reason}`))
    return started.promise.finally(() => clearTimeout(timer))
  }

  #hear(message: ToHost, started: PromiseWithResolvers<Shape>): void {
    if (message.kind === 'ready') {
      this.#isReady = true
      started.resolve(message.shape)
    } else if (message.kind === 'refused') {
      started.reject(refusalOf(message))
      this.#end(message.message)
    } else if (message.kind === 'done') this.#waiting.take(message.id)?.resolve(message)
    else if (message.kind === 'pong') this.#pulse.beat()
    else this.#options.heard(message)
  }

  /** What cannot cross fails alone. */
  #refuse(message: ToGuest): void {
    const fault = new HookFault('what it is to be given cannot cross to a worker')
    if (message.kind === 'answer') this.post({ kind: 'answer', id: message.id, thrown: thrownOf(fault) })
    if (message.kind === 'job') this.#waiting.take(message.id)?.reject(fault)
  }

  #end(reason: string, worker = this.#worker): void {
    if (!worker || worker !== this.#worker) return
    const wasReady = this.#isReady
    this.#worker = undefined
    this.#starting = undefined
    this.#isReady = false
    this.#outbox.clear()
    this.#pulse.stop()
    detach('the end of a worker', worker.terminate())
    this.#failStart(reason)
    const waiting = this.#waiting.takeAll()
    const lost = `its worker was lost: ${reason}`
    if (wasReady && !this.#isClosed) this.#options.down(lost)
    for (const { reject } of waiting) reject(new WorkerLost(lost))
  }
}

/** Nothing of our environment but where compiled code is kept, if that is anywhere: the runtime reads it as it begins. */
function compileCache(): NodeJS.ProcessEnv {
  const inUse = getCompileCacheDir()
  return inUse === undefined ? {} : { NODE_COMPILE_CACHE: path.dirname(inUse) }
}

function refusalOf({ message, param }: Extract<ToHost, { kind: 'refused' }>): Error {
  return param === undefined ? new Error(message) : badRequest(message, { param })
}

function reasonOf(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException
  return code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it used more memory than it may' : `${name} was thrown in it`
}
