import path from 'node:path'
import { Worker } from 'node:worker_threads'
import type { ModelRequest } from '../call/canonical.ts'
import type { TokenCount } from './request.ts'

export interface Task {
  readonly id: number
  readonly request: ModelRequest
  readonly texts: readonly string[]
}

export interface Counted {
  readonly id: number
  readonly input: TokenCount
  /** Tokens of the texts. */
  readonly output: number
}

interface Waiting {
  resolve(counted: Counted): void
  reject(error: Error): void
}

/**
 * Counts with the published tokenizers in a thread of its own, so that neither loading a table nor a long text keeps
 * calls waiting. The thread starts with the first count, and again after it broke.
 */
export class TokenCounter {
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #last = 0

  /** Counts a request and, by the same tokenizer, texts of its answer. Rejects when the thread breaks. */
  count(request: ModelRequest, texts: readonly string[] = []): Promise<Counted> {
    this.#worker ??= this.#start()
    this.#last += 1
    const id = this.#last
    const { promise, resolve, reject } = Promise.withResolvers<Counted>()
    this.#waiting.set(id, { resolve, reject })
    this.#worker.ref()
    this.#worker.postMessage({ id, request, texts } satisfies Task)
    return promise
  }

  async close(): Promise<void> {
    const worker = this.#worker
    this.#end(new Error('the gateway is closing'))
    await worker?.terminate()
  }

  #start(): Worker {
    const file = new URL(`./worker${path.extname(import.meta.url)}`, import.meta.url)
    const worker = new Worker(file, { execArgv: [] })
    worker.on('message', (counted: Counted) => {
      this.#waiting.get(counted.id)?.resolve(counted)
      this.#waiting.delete(counted.id)
      if (this.#waiting.size === 0) worker.unref()
    })
    const broke = (error: Error): void => {
      if (this.#worker === worker) this.#end(error)
    }
    worker.on('error', broke)
    worker.on('exit', () => broke(new Error('the thread that counts tokens has ended')))
    return worker
  }

  #end(error: Error): void {
    this.#worker = undefined
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
