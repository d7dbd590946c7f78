import path from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import { z } from 'zod'
import { PortCalls } from '../../storage/shared/port-calls.ts'
import type { SharedEngine } from '../../storage/shared.ts'
import type { MeterState } from '../chain/meter.ts'
import type { Config } from '../config.ts'
import type { Events } from '../events.ts'
import type { Log } from '../log.ts'
import { inTime } from '../plugin/in-time.ts'
import { explain } from '../plugin/manifest.ts'
import type { Registry } from '../plugin/registry.ts'
import type { QueueStatus } from '../queues.ts'
import type { Inside, PluginNews, ThreadData, ToFirst, ToThread } from './messages.ts'
import type { FirstRelay, Relayed } from './relay.ts'
import type { OtherThreads } from './sums.ts'
import { ThreadEnded } from './thread-ended.ts'

interface CrewParts {
  readonly config: Config
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: Log
  readonly shared: SharedEngine
  readonly events: Events
  readonly relay: FirstRelay
  readonly startedAt: number
  readonly registry: () => Registry
}

interface Member {
  readonly worker: Worker
  readonly calls: PortCalls
}

/** Beyond the time that a plugin's setup may take, until a thread that does not follow is ended, in milliseconds. */
const followMs = 10_000
/** How long a thread may take to tell of itself, in milliseconds; then it is left out. */
const answerMs = 2_000
/** Milliseconds before a thread that ended is replaced. */
const pauseMs = 1_000
/** Beyond the time for draining, until a thread that does not end is ended. */
const patienceMs = 15_000

/** The further threads of a process: the first one starts them, keeps them alike, and replaces those that end. */
export class Crew implements OtherThreads {
  readonly #parts: CrewParts
  readonly #members = new Map<number, Member>()
  readonly #pauses = new Set<NodeJS.Timeout>()
  #place: Pick<ThreadData, 'port' | 'inside'> | undefined
  #isClosed = false

  constructor(parts: CrewParts) {
    this.#parts = parts
  }

  get count(): number {
    return this.#parts.config.server.threads - 1
  }

  /** Starts them all, to listen on the first one's port. Rejects when one cannot. */
  async start(port: number, inside: Inside): Promise<void> {
    this.#place = { port, inside }
    const numbers = Array.from({ length: this.count }, (_, n) => n + 2)
    await this.#parts.registry().whileStill(() => Promise.all(numbers.map((number) => this.#start(number))))
  }

  /** Resolves when the change holds in all threads. One that cannot follow is replaced. */
  async tell(plugin: PluginNews): Promise<void> {
    const { setupTimeout } = this.#parts.config.plugins
    await this.#each(async (number, { calls, worker }) => {
      try {
        await inTime(calls.call({ plugin } satisfies ToThread), setupTimeout + followMs, 'its change')
      } catch (error) {
        this.#parts.log.error(
          { thread: number, problem: explain(error) },
          'a thread could not follow a change',
        )
        await worker.terminate()
      }
    })
  }

  meters(id: string): Promise<readonly MeterState[]> {
    return this.#ask<MeterState>({ meter: id })
  }

  async resetMeters(id: string): Promise<void> {
    await this.#ask({ reset: id })
  }

  queues(): Promise<readonly Record<string, QueueStatus>[]> {
    return this.#ask<Record<string, QueueStatus>>({ queues: true })
  }

  async rescanCatalogue(): Promise<void> {
    await this.#ask({ rescan: 'catalogue' })
  }

  /** Has all drain and end. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const pause of this.#pauses) clearTimeout(pause)
    await this.#each(async (_, { calls, worker }) => {
      const timer = setTimeout(() => void worker.terminate(), this.#parts.config.drain + patienceMs)
      await calls.call({ close: true } satisfies ToThread).catch(() => {})
      clearTimeout(timer)
      await worker.terminate()
    })
  }

  /** What those answer that can. */
  async #ask<T>(message: ToThread): Promise<T[]> {
    const answers: T[] = []
    await this.#each(async (_, { calls }) => {
      await inTime(calls.call(message), answerMs, 'its answer').then(
        (answer) => answers.push(answer as T),
        () => {},
      )
    })
    return answers
  }

  async #each(work: (number: number, member: Member) => Promise<void>): Promise<void> {
    await Promise.all([...this.#members].map(([number, member]) => work(number, member)))
  }

  /** Resolves when the thread answers requests. */
  async #start(number: number): Promise<void> {
    const { config, env, registry, startedAt } = this.#parts
    const [store, control] = [new MessageChannel(), new MessageChannel()]
    const ready = Promise.withResolvers<void>()
    const calls = new PortCalls(control.port1, (message) => this.#heard(number, message as ToFirst, ready))
    void this.#parts.shared.serve(store.port1)
    const data: ThreadData = {
      config,
      env: { ...env },
      number,
      ...this.#place!,
      startedAt,
      generation: registry().generation.number,
      store: store.port2,
      control: control.port2,
    }
    const worker = new Worker(new URL(`./thread${path.extname(import.meta.url)}`, import.meta.url), {
      workerData: data,
      transferList: [store.port2, control.port2],
    })
    const member = { worker, calls }
    this.#members.set(number, member)
    let problem = 'it ended'
    worker.on('error', (error) => {
      problem = explain(error)
    })
    worker.on('exit', () => {
      if (this.#members.get(number) === member) this.#members.delete(number)
      this.#parts.events.emit(ThreadEnded, { thread: number })
      ready.reject(new Error(`Thread ${number} could not start: ${problem}`))
    })
    await ready.promise
    worker.on('exit', () => this.#replace(number, problem))
  }

  #replace(number: number, problem: string): void {
    if (this.#isClosed) return
    const { log, registry } = this.#parts
    log.error({ thread: number, problem }, 'a thread ended; it is replaced')
    const pause = setTimeout(() => {
      this.#pauses.delete(pause)
      registry()
        .whileStill(async () => {
          if (this.#isClosed) return
          await this.#start(number)
          log.info({ thread: number }, 'a thread was replaced')
        })
        .catch((error) => this.#replace(number, explain(error)))
    }, pauseMs)
    this.#pauses.add(pause)
  }

  #heard(number: number, message: ToFirst, ready: PromiseWithResolvers<void>): unknown {
    if ('asked' in message) return this.#parts.relay.answer(message.asked, message.data, number)
    if ('ready' in message) ready.resolve()
    else if ('failed' in message) ready.reject(new Error(message.failed))
    else for (const relayed of message.relayed) this.#relayed(relayed, number)
    return undefined
  }

  #relayed(relayed: Relayed, from: number): void {
    const { events, log, relay } = this.#parts
    try {
      if ('key' in relayed) relay.answer(relayed.key, relayed.data, from)
      else events.emit({ ...relayed.event, schema: z.unknown() }, relayed.data)
    } catch (error) {
      log.error({ err: error }, 'what another thread told could not be taken in')
    }
  }
}
