import { MessageChannel } from 'node:worker_threads'
import type { Config } from '../../config/config.ts'
import type { MeterState } from '../../kernel/chain/meter.ts'
import { receive } from '../../kernel/events/happening.ts'
import type { Events } from '../../kernel/events.ts'
import type { HttpServer } from '../../kernel/http/server.ts'
import type { Log } from '../../kernel/log.ts'
import type { NumberedNews } from '../../kernel/plugin/change.ts'
import type { Registry } from '../../kernel/plugin/registry.ts'
import type { QueueStatus, Queues } from '../../kernel/queues.ts'
import { type OtherThreads, ThreadEnded } from '../../kernel/threads/threads.ts'
import { explain } from '../../kit/explain.ts'
import { detach } from '../../kit/work/contain.ts'
import { inTime } from '../../kit/work/in-time.ts'
import type { Argument, Result } from '../../storage/shared/rpc-port.ts'
import type { SharedEngine } from '../../storage/shared.ts'
import { SupervisedWorker } from '../../workers/supervised-worker.ts'
import { errors } from '../../workers/thrown.ts'
import { AllThreads } from './all-threads.ts'
import { ForwardedServer } from './forward.ts'
import type { FirstMethods, ThreadData, ThreadMethods } from './methods.ts'
import type { FirstRelay, Relayed } from './relay.ts'
import { youngMbOfCalls } from './young-generation.ts'

interface ThreadPoolParts {
  readonly config: Config
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: Log
  readonly shared: SharedEngine
  readonly events: Events
  readonly queues: Queues
  readonly relay: FirstRelay
  readonly startedAt: number
  readonly registry: () => Registry
}

type ThreadHandle = SupervisedWorker<ThreadMethods, FirstMethods>

/** How long a thread may give no sign of life, in milliseconds. */
const hangMs = 15_000
/** How long a thread may take to answer requests: plugins are set up one after the other. */
const startMs = 10 * 60_000
/** Beyond the time that a plugin's setup may take, until a thread that does not follow is ended, in milliseconds. */
const followMs = 10_000
/** How long a thread may take for its report, in milliseconds; then it is left out. */
const answerMs = 2_000
/** Milliseconds before a thread that ended is replaced. */
const pauseMs = 1_000
/** Beyond the time for draining, until a thread that does not end is ended, in milliseconds. */
const patienceMs = 15_000

/** The further threads of a process: the first one starts them, keeps them alike, and replaces those that end. */
export class ThreadPool implements OtherThreads {
  readonly all: AllThreads
  readonly #parts: ThreadPoolParts
  readonly #threads = new Map<number, ThreadHandle>()
  #forwarded: ForwardedServer | undefined

  constructor(parts: ThreadPoolParts) {
    this.#parts = parts
    this.all = new AllThreads(parts.queues, this)
    parts.relay.runInOthers = async (key) => void (await this.#ask('run', key))
  }

  get count(): number {
    return this.#parts.config.server.threads - 1
  }

  async start(port: number, server: Pick<HttpServer, 'route'>): Promise<void> {
    const { requestTimeout } = this.#parts.config.server
    this.#forwarded = new ForwardedServer(requestTimeout, (req, res) => server.route(req, res))
    const main = await this.#forwarded.listen()
    for (let number = 2; number <= this.count + 1; number++)
      this.#threads.set(number, this.#thread(number, { port, main }))
    const start = () => Promise.all([...this.#threads.values()].map((thread) => thread.start()))
    await this.#parts.registry().whileStill(start)
  }

  /** Resolves when the change holds in all threads. One that cannot follow is replaced. */
  async tell(news: NumberedNews): Promise<void> {
    const { config, log } = this.#parts
    await this.#each(async (thread, number) => {
      try {
        await inTime(
          thread.call('follow', news),
          config.plugins.setupTimeout + followMs,
          'to follow a change',
        )
      } catch (error) {
        log.error({ thread: number, problem: explain(error) }, 'a thread could not follow a change')
        thread.fail('it could not follow a change')
      }
    })
  }

  async meters(id: string): Promise<readonly MeterState[]> {
    return (await this.#ask('meter', id)).filter((state) => state !== undefined)
  }

  async resetMeters(id: string): Promise<void> {
    await this.#ask('resetMeter', id)
  }

  queues(): Promise<readonly Record<string, QueueStatus>[]> {
    return this.#ask('queues', undefined)
  }

  /** Has all drain and end. */
  async close(): Promise<void> {
    const { drain, drainDelay } = this.#parts.config
    const ms = drainDelay + drain + patienceMs
    const ended = [...this.#threads.values()].map((thread) =>
      thread.close((last) => last.call('close', undefined), ms),
    )
    await Promise.all(ended)
    await this.#forwarded?.close()
  }

  /** The answers of those that can give one. */
  async #ask<K extends keyof ThreadMethods>(
    method: K,
    argument: Argument<ThreadMethods[K]>,
  ): Promise<Result<ThreadMethods[K]>[]> {
    const answers: Result<ThreadMethods[K]>[] = []
    await this.#each(async (thread) => {
      try {
        answers.push(await inTime(thread.call(method, argument), answerMs, 'its answer'))
      } catch {
        // It is left out; should it hang, its heartbeat tells.
      }
    })
    return answers
  }

  /** Does something with each thread that answers requests. */
  async #each(work: (thread: ThreadHandle, number: number) => Promise<void>): Promise<void> {
    const ready = [...this.#threads].filter(([, thread]) => thread.isReady)
    await Promise.all(ready.map(([number, thread]) => work(thread, number)))
  }

  #thread(number: number, place: Pick<ThreadData, 'port' | 'main'>): ThreadHandle {
    const { config, env, registry, startedAt, shared, events, log, relay } = this.#parts
    return new SupervisedWorker<ThreadMethods, FirstMethods>({
      entry: ['./thread', import.meta.url],
      name: `thread ${number}`,
      data: () => {
        const { port1, port2: store } = new MessageChannel()
        detach('the store of a thread', shared.serve(port1))
        const generation = registry().generation.number
        const value: ThreadData = { config, env: { ...env }, number, ...place, startedAt, generation, store }
        return { value, transfer: [store] }
      },
      limits: { startMs, hangMs, youngMb: youngMbOfCalls() },
      works: true,
      rpc: { errors },
      methods: {
        relay: (relayed) => {
          for (const one of relayed) this.#take(one, number)
        },
        ask: ({ key, data }) => relay.answer(key, data, number),
      },
      begin: (thread) => thread.call('boot', undefined),
      lost: ({ reason, cause }) => {
        const problem = cause === undefined ? reason : explain(cause)
        log.error({ thread: number, problem }, 'a thread ended; it is replaced')
        events.emit(ThreadEnded, { thread: number })
      },
      restart: {
        pauseMs,
        run: async (start) => {
          try {
            await registry().whileStill(start)
            log.info({ thread: number }, 'a thread was replaced')
          } catch (error) {
            log.error({ thread: number, problem: explain(error) }, 'a thread could not be replaced yet')
            throw error
          }
        },
      },
    })
  }

  #take(relayed: Relayed, from: number): void {
    const { events, log, relay } = this.#parts
    try {
      if ('key' in relayed) relay.answer(relayed.key, relayed.data, from)
      else void events.tell(receive(relayed.event))
    } catch (error) {
      log.error({ err: error }, 'a message of another thread could not be processed')
    }
  }
}
