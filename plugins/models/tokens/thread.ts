import path from 'node:path'
import { Worker } from 'node:worker_threads'
import type { ModelRequest, TokenCount } from '#kernel'
import { contain, detach } from '#kit'
import { reasonOf, type TokenizerFile } from './files/file.ts'
import type { FileFacts } from './files/open.ts'

/** What the thread is asked to count, by a file of the operator's or by what came with the gateway. */
export interface CountTask {
  readonly file?: TokenizerFile | undefined
  readonly request: ModelRequest
  readonly texts: readonly string[]
}

/** A file that the thread is asked to open and to try. */
export interface OpenTask {
  readonly file: TokenizerFile
}

export type Task = CountTask | OpenTask

export interface Counted {
  readonly input: TokenCount
  /** Tokens of the texts. */
  readonly output: number
}

/** Why there is no answer. */
export interface Failure {
  readonly problem: string
  /** Whether the thread did not come through it: it took too long, or too much memory. */
  readonly broke: boolean
}

export type Answer = Counted | FileFacts | Failure

type AnswerTo<T extends Task> = (T extends CountTask ? Counted : FileFacts) | Failure

interface Waiting {
  readonly task: Task
  readonly weight: number
  resolve(answer: Answer): void
  reject(error: Error): void
}

/** A vocabulary of 262,000 tokens takes 300 MB while it is read. */
const limits = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 24 }

/** A thread that has had nothing to count for so long ends, and its vocabularies with it. */
const idleEndMs = 60_000

/**
 * The thread that vocabularies are loaded and run in. It has one task at a time, so that one that takes too long, or breaks
 * the thread, is known: it fails, and the others go on in a new thread. No thread is there before the first task, nor a
 * minute after the last.
 */
export class TokenThread {
  readonly #limitMs: number
  readonly #mostWeight: number
  readonly #idleMs: number
  #queue: Waiting[] = []
  /** Of the tasks in the queue, together. */
  #weight = 0
  #running: Waiting | undefined
  #worker: Worker | undefined
  #timer: NodeJS.Timeout | undefined

  /** Tasks that wait are held in memory: those that would weigh more than `mostWeight` together fail at once. */
  constructor(limitMs: number, mostWeight: number, idleMs = idleEndMs) {
    this.#limitMs = limitMs
    this.#mostWeight = mostWeight
    this.#idleMs = idleMs
  }

  /** Resolves with what the thread says, or why it says nothing. Rejects when the thread is closed meanwhile. */
  ask<T extends Task>(task: T, weight = 0): Promise<AnswerTo<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    if (this.#queue.length > 0 && this.#weight + weight > this.#mostWeight) {
      resolve({ problem: 'too much waits for the thread that counts', broke: false })
    } else {
      this.#weight += weight
      this.#queue.push({ task, weight, resolve, reject })
      this.#next()
    }
    return promise as Promise<AnswerTo<T>>
  }

  /** Ends the thread; waiting tasks fail. The next task starts another. */
  async close(): Promise<void> {
    const waiting = [...(this.#running ? [this.#running] : []), ...this.#queue]
    this.#queue = []
    this.#weight = 0
    const ended = this.#end()
    for (const { reject } of waiting) reject(new Error('the gateway is closing'))
    await ended
  }

  /** Gives the thread the next task that can be given; one that cannot fails alone, and at once. */
  #next(): void {
    if (this.#running) return
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      this.#weight -= next.weight
      try {
        this.#give(next)
        return
      } catch (error) {
        next.resolve({
          problem: `cannot be given to the thread that counts: ${reasonOf(error)}`,
          broke: false,
        })
      }
    }
    this.#worker?.unref()
    const idle = contain('the end of an idle thread that counts', () =>
      detach('the end of the thread that counts', this.#end()),
    )
    this.#timer = setTimeout(idle, this.#idleMs).unref()
  }

  /** Throws when the task cannot be copied or no thread can be started; then it is as if it had not been tried. */
  #give(next: Waiting): void {
    clearTimeout(this.#timer)
    this.#worker ??= this.#start()
    this.#worker.postMessage(next.task)
    this.#worker.ref()
    this.#running = next
    const late = contain('a count of tokens', () => this.#broke(`took longer than ${this.#limitMs / 1000} s`))
    this.#timer = setTimeout(late, this.#limitMs)
  }

  #start(): Worker {
    const file = new URL(`./worker${path.extname(import.meta.url)}`, import.meta.url)
    const worker = new Worker(file, { execArgv: [], resourceLimits: limits })
    const settle = contain('a count of tokens', (answer: Answer) => {
      if (this.#worker === worker) this.#settle(answer)
    })
    const broke = contain('the thread that counts', (problem: string) => {
      if (this.#worker === worker) this.#broke(problem)
    })
    const failed = contain('the thread that counts', (error: unknown) =>
      broke(`broke the thread that counts: ${reasonOf(error)}`),
    )
    worker.on('message', settle)
    worker.on('messageerror', () => broke('gave an answer that cannot be read'))
    worker.on('error', failed)
    worker.on('exit', () => broke('ended the thread that counts'))
    return worker
  }

  #settle(answer: Answer): void {
    const done = this.#running
    clearTimeout(this.#timer)
    this.#running = undefined
    done?.resolve(answer)
    this.#next()
  }

  #broke(problem: string): void {
    const failed = this.#running
    detach('the end of the thread that counts', this.#end())
    failed?.resolve({ problem, broke: true })
    this.#next()
  }

  #end(): Promise<unknown> {
    const worker = this.#worker
    clearTimeout(this.#timer)
    this.#running = undefined
    this.#worker = undefined
    return Promise.resolve(worker?.terminate())
  }
}
