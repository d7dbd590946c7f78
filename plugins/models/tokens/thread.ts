import type { ModelRequest, TokenCount } from '#kernel'
import { contain, detach, SupervisedWorker, WorkerLost } from '#kit'
import { reasonOf, type TokenizerFile } from './files/file.ts'
import type { FileFacts } from './files/open.ts'

/** A counting request to the thread, with the operator's tokenizer file or one that came with the gateway. */
export interface CountTask {
  readonly file?: TokenizerFile | undefined
  readonly request: ModelRequest
  readonly texts: readonly string[]
}

/** A file that the thread is asked to open and to try. */
export interface OpenTask {
  readonly file: TokenizerFile
}

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

/** The methods of the thread. */
export type TokenMethods = { count(task: CountTask): Counted; open(task: OpenTask): FileFacts }

type Task = CountTask | OpenTask
type Answer = Counted | FileFacts | Failure
type AnswerTo<T extends Task> = (T extends CountTask ? Counted : FileFacts) | Failure

interface Waiting {
  readonly task: Task
  readonly weight: number
  readonly answer: PromiseWithResolvers<Answer>
}

/** A vocabulary of 262,000 tokens takes 300 MB while it is read. */
const heapMb = 1024

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
  readonly #worker: SupervisedWorker<TokenMethods>
  #queue: Waiting[] = []
  /** Of the tasks in the queue, together. */
  #weight = 0
  #running: Waiting | undefined

  /** Tasks that wait are held in memory: those that would weigh more than `mostWeight` together fail at once. */
  constructor(limitMs: number, mostWeight: number, idleMs = idleEndMs) {
    this.#limitMs = limitMs
    this.#mostWeight = mostWeight
    this.#worker = new SupervisedWorker<TokenMethods>({
      entry: ['./worker', import.meta.url],
      execArgv: [],
      limits: { heapMb, idleMs },
      methods: {},
      rpc: {
        uncloneable: (cause) => new Error(`cannot be given to the thread that counts: ${reasonOf(cause)}`),
      },
    })
  }

  /** Resolves with what the thread says, or why it says nothing. Rejects when the thread is closed meanwhile. */
  ask<T extends Task>(task: T, weight = 0): Promise<AnswerTo<T>> {
    const answer = Promise.withResolvers<Answer>()
    if (this.#queue.length > 0 && this.#weight + weight > this.#mostWeight) {
      answer.resolve({ problem: 'too much waits for the thread that counts', broke: false })
    } else {
      this.#weight += weight
      this.#queue.push({ task, weight, answer })
      this.#next()
    }
    return answer.promise as Promise<AnswerTo<T>>
  }

  /** Ends the thread; waiting tasks fail. The next task starts another. */
  async close(): Promise<void> {
    const waiting = [...(this.#running ? [this.#running] : []), ...this.#queue]
    this.#queue = []
    this.#weight = 0
    this.#running = undefined
    for (const { answer } of waiting) answer.reject(new Error('the gateway is closing'))
    await this.#worker.end('the gateway is closing')
  }

  #next(): void {
    if (this.#running) return
    const next = this.#queue.shift()
    if (!next) return
    this.#weight -= next.weight
    this.#running = next
    const settle = (answer: Answer): void => {
      next.answer.resolve(answer)
      if (this.#running !== next) return
      this.#running = undefined
      this.#next()
    }
    detach('a count of tokens', this.#do(next.task).then(settle))
  }

  async #do(task: Task): Promise<Answer> {
    const tooLong = `took longer than ${this.#limitMs / 1000} s`
    const late = contain('a count of tokens', () => this.#worker.end(tooLong))
    const timer = setTimeout(late, this.#limitMs)
    try {
      await this.#worker.start()
      return await ('request' in task ? this.#worker.call('count', task) : this.#worker.call('open', task))
    } catch (error) {
      return failureOf(error)
    } finally {
      clearTimeout(timer)
    }
  }
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof WorkerLost)) return { problem: reasonOf(error), broke: false }
  const { cause, reason } = error
  const problem = cause === undefined ? reason : `broke the thread that counts: ${reasonOf(cause)}`
  return { problem, broke: true }
}
