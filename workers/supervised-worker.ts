import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { contain, detach } from '../kit/work/contain.ts'
import {
  type Argument,
  type CallOptions,
  type Methods,
  type Result,
  RpcPort,
} from '../storage/shared/rpc-port.ts'
import { reasonOf, resourceLimitsOf, type SupervisedOptions, WorkerLost } from './supervision.ts'

const longestPauseMs = 60_000

interface Running<Theirs extends Methods, Ours extends Methods, Ready> {
  readonly worker: Worker
  readonly port: RpcPort<Theirs, Ours>
  readonly ready: Promise<Ready>
  isReady: boolean
  /** When the supervisor began to await a sign of life, by `performance.now()`. */
  pingedAt: number | undefined
}

/**
 * A worker thread that is kept within bounds. One that ends, runs out of memory, is not ready in time or gives no sign of life
 * is ended, and all that was asked of it rejects with a WorkerLost. The next `start` starts another, or `restart` does.
 */
export class SupervisedWorker<Theirs extends Methods, Ours extends Methods = Methods, Ready = unknown> {
  readonly #options: SupervisedOptions<Theirs, Ours, Ready>
  #running: Running<Theirs, Ours, Ready> | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #idle: NodeJS.Timeout | undefined
  #pause: NodeJS.Timeout | undefined
  /** Starts that have failed one after the other. */
  #failures = 0
  /** The start and the questions under way. While there are any, the process goes on. */
  #busy = 0
  #isClosed = false
  /** Counts the workers there were: what one knew, the next does not. */
  starts = 0

  constructor(options: SupervisedOptions<Theirs, Ours, Ready>) {
    this.#options = options
  }

  get isReady(): boolean {
    return this.#running?.isReady === true
  }

  /** Starts it unless it is there. Resolves when it is ready; rejects with why it cannot be. */
  async start(): Promise<Ready> {
    if (this.#isClosed) throw new WorkerLost('it was switched off')
    this.#running ??= this.#spawn()
    return this.#running.ready
  }

  /** Asks the worker that is there, ready or not. Rejects with a WorkerLost when it ends before it has answered. */
  async call<K extends keyof Theirs & string>(
    method: K,
    argument: Argument<Theirs[K]>,
    options?: CallOptions,
  ): Promise<Result<Theirs[K]>> {
    if (!this.#running) throw new WorkerLost('it has ended')
    const { port } = this.#running
    this.#hold()
    try {
      return await port.call(method, argument, options)
    } finally {
      this.#letGo()
    }
  }

  /** Says something to the worker, if there is one. */
  notify<K extends keyof Theirs & string>(method: K, argument: Argument<Theirs[K]>): void {
    this.#running?.port.notify(method, argument)
  }

  /** Ends a worker that is no good, as if it had ended by itself. */
  fail(reason: string): void {
    if (this.#running) this.#lose(this.#running, reason)
  }

  /** Ends the current worker; its open questions reject with this reason. Resolves when it has ended. */
  async end(reason: string): Promise<void> {
    const running = this.#running
    if (!running) return
    const ended = this.#drop(running)
    running.port.close(new WorkerLost(reason))
    await ended
  }

  /**
   * Ends the worker for good, after `last` has been asked of it for at most so many milliseconds. Resolves with what it said,
   * undefined if it did not say anything.
   */
  async close<T>(last: (worker: RpcPort<Theirs, Ours>) => Promise<T>, ms: number): Promise<T | undefined> {
    this.#isClosed = true
    clearTimeout(this.#pause)
    const off = 'it was switched off'
    const end = contain('the end of a worker', () => this.end(off))
    const late = setTimeout(end, ms)
    try {
      return this.#running?.isReady ? await last(this.#running.port) : undefined
    } catch {
      return undefined
    } finally {
      clearTimeout(late)
      await this.end(off)
    }
  }

  #spawn(): Running<Theirs, Ours, Ready> {
    const { entry, name, data, env, execArgv, limits, methods, rpc } = this.#options
    const [file, from] = entry
    const { value, transfer = [] } = data?.() ?? { value: undefined }
    const worker = new Worker(new URL(`${file}${path.extname(from)}`, from), {
      ...(name !== undefined && { name }),
      ...(env && { env }),
      ...(execArgv && { execArgv }),
      workerData: value,
      transferList: [...transfer],
      resourceLimits: resourceLimitsOf(limits),
    })
    const port = new RpcPort<Theirs, Ours>(worker, methods, rpc)
    const ready = Promise.withResolvers<Ready>()
    const running = { worker, port, ready: ready.promise, isReady: false, pingedAt: undefined }
    const thrown: unknown[] = []
    worker.on('messageerror', () => this.#lose(running, 'it sent an unreadable message'))
    // Lost when it has exited: what it answered before it threw comes by another way, and at times after the error.
    worker.on('error', (error: unknown) => thrown.push(error))
    worker.on('exit', (code) => this.#lose(running, reasonOf(code, thrown), thrown[0]))
    this.starts += 1
    this.#hold()
    ready.resolve(this.#begin(running).finally(() => this.#letGo()))
    return running
  }

  async #begin(running: Running<Theirs, Ours, Ready>): Promise<Ready> {
    const { begin, limits } = this.#options
    const { startMs = 0, hangMs } = limits
    const late = contain('the start of a worker', () =>
      this.#lose(running, `it was not ready within ${startMs / 1000} s`),
    )
    const timer = startMs > 0 ? setTimeout(late, startMs) : undefined
    try {
      const ready = (await begin?.(running.port)) as Ready
      running.isReady = true
      if (hangMs !== undefined) this.#watch(running, hangMs)
      return ready
    } catch (error) {
      if (running === this.#running) await this.end('it could not begin')
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  /** Looks for signs of life of a worker that is asked for something, or works anyway. */
  #watch(running: Running<Theirs, Ours, Ready>, hangMs: number): void {
    const look = contain('the heartbeat of a worker', () => {
      const { port, pingedAt } = running
      if (!this.#options.works && port.pending === 0) running.pingedAt = undefined
      else if (pingedAt === undefined || port.heardAt > pingedAt) {
        running.pingedAt = performance.now()
        port.ping()
      } else if (performance.now() - pingedAt >= hangMs)
        this.#lose(running, `it gave no sign of life for ${hangMs} ms`)
    })
    this.#heartbeat = setInterval(look, Math.ceil(hangMs / 3)).unref()
  }

  #lose(running: Running<Theirs, Ours, Ready>, reason: string, cause?: unknown): void {
    if (running !== this.#running) return
    const { isReady, port } = running
    detach('the end of a worker', this.#drop(running))
    const lost = new WorkerLost(reason, cause, isReady ? undefined : 'the worker did not start')
    if (isReady && !this.#isClosed) {
      contain('the loss of a worker', this.#options.lost ?? (() => {}))(lost)
      this.#restartLater()
    }
    port.close(lost)
  }

  #drop({ worker }: Running<Theirs, Ours, Ready>): Promise<unknown> {
    this.#running = undefined
    clearInterval(this.#heartbeat)
    clearTimeout(this.#idle)
    return worker.terminate()
  }

  #restartLater(): void {
    const { restart } = this.#options
    if (!restart || this.#isClosed) return
    const again = contain('the restart of a worker', async () => {
      try {
        await restart.run(() => this.start())
        this.#failures = 0
      } catch {
        this.#failures += 1
        this.#restartLater()
      }
    })
    this.#pause = setTimeout(again, Math.min(restart.pauseMs * 2 ** this.#failures, longestPauseMs))
  }

  #hold(): void {
    this.#busy += 1
    if (this.#busy > 1) return
    clearTimeout(this.#idle)
    this.#running?.worker.ref()
  }

  #letGo(): void {
    this.#busy -= 1
    if (this.#busy > 0 || !this.#running) return
    const { idleMs } = this.#options.limits
    this.#running.worker.unref()
    if (idleMs === undefined) return
    const end = contain('the end of an idle worker', () => this.end('it had nothing to do'))
    this.#idle = setTimeout(end, idleMs).unref()
  }
}
