import type { Estimator, Log, ModelRequest, TokenCount, TokenCounting } from '#kernel'
import { estimatorOf } from './estimate.ts'
import { finderOf, type TokenizerFile } from './files/file.ts'
import type { FileFacts } from './files/open.ts'
import { estimateRequest } from './request.ts'
import { type Counted, type Failure, TokenThread } from './thread.ts'
import { encodingOf } from './tokenizer.ts'

/** What was found of a file of the operator's: facts, or what is wrong with it. */
export interface CheckedFile {
  readonly file: TokenizerFile
  readonly found: FileFacts | Failure
}

interface CounterOptions {
  /** Tokenizers of the operator's; the first that knows a model counts, before those that came with the gateway. */
  readonly files?: readonly TokenizerFile[]
  /** How long one count may take, loading included. */
  readonly limitMs?: number
  readonly log?: Pick<Log, 'warn'>
}

/** How long a file that broke the thread is not used: whoever sends it such texts is not to keep the others waiting. */
const restMs = 10 * 60_000

/**
 * Counts with the published tokenizers in a thread of its own, so that neither loading a table nor a long text keeps
 * calls waiting. The thread starts with the first count, and again after it broke or was ended for taking too long; what
 * it was at is estimated, and a file of the operator's that it was at is left alone for a while.
 */
export class TokenCounter implements TokenCounting {
  readonly #files: readonly TokenizerFile[]
  readonly #find: (model: string) => TokenizerFile | undefined
  readonly #log: Pick<Log, 'warn'> | undefined
  readonly #thread: TokenThread
  /** Files that broke the thread, and until when they are left alone. */
  readonly #resting = new Map<TokenizerFile, number>()

  constructor({ files = [], limitMs = 30_000, log }: CounterOptions = {}) {
    this.#files = files
    this.#find = finderOf(files)
    this.#log = log
    this.#thread = new TokenThread(limitMs)
  }

  /** Whether a model's tokenizer is there; its counts are estimates otherwise. */
  knows(model: string): boolean {
    return this.#find(model) !== undefined || encodingOf(model) !== undefined
  }

  /** Counts a request and, by the same tokenizer, texts of its answer. Rejects when the counter is closed meanwhile. */
  async count(request: ModelRequest, texts: readonly string[] = []): Promise<Counted> {
    const file = this.#find(request.model)
    if (file && (this.#resting.get(file) ?? 0) > Date.now()) return estimated(request, texts)
    const answer = await this.#thread.ask({ file, request, texts })
    if ('input' in answer) return answer
    if (file && answer.broke) this.#resting.set(file, Date.now() + restMs)
    const facts = { tokenizer: file?.name, model: request.model, reason: answer.problem }
    this.#log?.warn(facts, 'tokens could not be counted, and are estimated')
    return estimated(request, texts)
  }

  estimate(request: ModelRequest): TokenCount {
    return estimateRequest(request)
  }

  estimator(model: string): Estimator {
    return estimatorOf(model)
  }

  /** Opens and tries each of the operator's files, and lets go of them again. */
  async check(): Promise<CheckedFile[]> {
    const checked: CheckedFile[] = []
    for (const file of this.#files) checked.push({ file, found: await this.#thread.ask({ file }) })
    await this.#thread.close()
    return checked
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}

function estimated(request: ModelRequest, texts: readonly string[]): Counted {
  return { input: estimateRequest(request), output: estimatorOf(request.model).countAll(texts) }
}
