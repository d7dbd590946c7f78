import { z } from 'zod'
import type { SharedEngine } from '../../storage/shared.ts'
import { repeat } from '../call/repeat.ts'
import type { MeterState } from '../chain/meter.ts'
import type { Config } from '../config.ts'
import { contain, detach } from '../contain.ts'
import type { Events } from '../events.ts'
import type { Log } from '../log.ts'
import { explain } from '../plugin/manifest.ts'
import type { Registry } from '../plugin/registry.ts'
import type { FirstRelay, Relayed } from '../plugin/relay.ts'
import type { PluginNews } from '../plugin/transaction.ts'
import type { QueueStatus } from '../queues.ts'
import { Member } from './member.ts'
import type { Inside, ThreadData, ToThread } from './messages.ts'
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

/** How often a thread is asked whether it is well, and how long it may take to say so, in milliseconds. */
const pulseMs = 5_000
const hungMs = 15_000
/** Beyond the time that a plugin's setup may take, until a thread that does not follow is ended, in milliseconds. */
const followMs = 10_000
/** How long a thread may take to tell of itself, in milliseconds; then it is left out. */
const answerMs = 2_000
/** Milliseconds before a thread that ended is replaced. */
const pauseMs = 1_000
/** Beyond the time for draining, until a thread that does not end is ended, in milliseconds. */
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
    parts.relay.runInOthers = async (run) => void (await this.#ask({ run }))
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
    const { config, log } = this.#parts
    await this.#each(async (member) => {
      try {
        await member.ask({ plugin }, config.plugins.setupTimeout + followMs)
      } catch (error) {
        log.error({ thread: member.number, problem: explain(error) }, 'a thread could not follow a change')
        await member.end()
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

  /** Has all drain and end. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const pause of this.#pauses) clearTimeout(pause)
    const { drain, drainDelay } = this.#parts.config
    await this.#each(async (member) => {
      await member.ask({ close: true }, drainDelay + drain + patienceMs).catch(() => {})
      await member.end()
    })
  }

  /** What those answer that can. */
  async #ask<T>(message: ToThread): Promise<T[]> {
    const answers: T[] = []
    await this.#each(async (member) => {
      const answer = await member.ask(message, answerMs).catch(() => undefined)
      if (answer !== undefined) answers.push(answer as T)
    })
    return answers
  }

  async #each(work: (member: Member) => Promise<void>): Promise<void> {
    await Promise.all([...this.#members.values()].map(work))
  }

  /** Resolves when the thread answers requests; from then on it is replaced when it ends. */
  async #start(number: number): Promise<void> {
    const { config, env, registry, startedAt, shared, events } = this.#parts
    const generation = registry().generation.number
    const given = { config, env: { ...env }, number, ...this.#place!, startedAt, generation }
    const member: Member = new Member(given, shared, (message) => {
      if ('asked' in message) return this.#parts.relay.answer(message.asked, message.data, number)
      for (const relayed of message.relayed) this.#relayed(relayed, number)
      return undefined
    })
    this.#members.set(number, member)
    const gone = member.ended.then((problem) => {
      this.#members.delete(number)
      events.emit(ThreadEnded, { thread: number })
      return problem
    })
    await member.ready
    const leave = repeat(
      pulseMs,
      () => this.#feel(member),
      () => {},
    )
    const replaced = gone.then((problem) => {
      detach('the pulse of a thread', leave())
      this.#replace(number, problem)
    })
    detach('the end of a thread', replaced)
  }

  /** Ends a thread that does not answer: whatever it does, its calls wait in vain. */
  async #feel(member: Member): Promise<void> {
    try {
      await member.ask({ queues: true }, hungMs)
    } catch {
      if (this.#members.get(member.number) !== member) return
      this.#parts.log.error({ thread: member.number }, 'a thread hangs, and is ended')
      await member.end()
    }
  }

  #replace(number: number, problem: string): void {
    if (this.#isClosed) return
    const { log, registry } = this.#parts
    log.error({ thread: number, problem }, 'a thread ended; it is replaced')
    const replace = contain('the replacement of a thread', () => {
      this.#pauses.delete(pause)
      const start = async (): Promise<void> => {
        if (this.#isClosed) return
        await this.#start(number)
        log.info({ thread: number }, 'a thread was replaced')
      }
      return registry()
        .whileStill(start)
        .catch((error) => this.#replace(number, explain(error)))
    })
    const pause = setTimeout(replace, pauseMs)
    this.#pauses.add(pause)
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
