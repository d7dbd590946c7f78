import type { Estimator, Log, ModelRequest, TokenCount, TokenCounting, Unreported, Usage } from '#kernel'
import { estimatorOf } from './estimate.ts'
import { finderOf, type TokenizerFile } from './files/file.ts'
import type { FileFacts } from './files/open.ts'
import { estimateRequest, sizeOf } from './request.ts'
import { type Counted, type Failure, TokenThread } from './thread.ts'
import { encodingOf } from './tokenizer.ts'
import { usedBy } from './used.ts'

/** The result of a check of the operator's file: its facts, or its problem. */
export interface CheckedFile {
  readonly file: TokenizerFile
  readonly found: FileFacts | Failure
}

interface CounterOptions {
  /** Tokenizers of the operator's; the first that knows a model counts, before those that came with the gateway. */
  readonly files?: readonly TokenizerFile[]
  /** How long one count may take, loading included. */
  readonly limitMs?: number
  /** Characters of the requests and texts that may wait to be counted; calls beyond are estimated. */
  readonly mostWaiting?: number
  readonly log?: Pick<Log, 'warn'>
}

/** Beside its characters, what a waiting request weighs: no number of small ones may wait without end either. */
const ownWeight = 10_000

/** A reason is reported once in so many milliseconds: under load every call may have it. */
const toldMs = 10_000

/** How long a file that broke the thread is not used, so that its callers do not hold up the others. */
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
  #told = { reason: '', at: Number.NEGATIVE_INFINITY }

  constructor({ files = [], limitMs = 30_000, mostWaiting = 20_000_000, log }: CounterOptions = {}) {
    this.#files = files
    this.#find = finderOf(files)
    this.#log = log
    this.#thread = new TokenThread(limitMs, mostWaiting)
  }

  /** Whether a model's tokenizer is there; its counts are estimates otherwise. */
  knows(model: string): boolean {
    return this.#find(model) !== undefined || encodingOf(model) !== undefined
  }

  /** Counts a request and, by the same tokenizer, texts of its answer. Rejects when the counter is closed meanwhile. */
  async count(request: ModelRequest, texts: readonly string[] = []): Promise<Counted> {
    const file = this.#find(request.model)
    if (file && (this.#resting.get(file) ?? 0) > Date.now()) return estimated(request, texts)
    const weight = texts.reduce((sum, text) => sum + text.length, ownWeight + sizeOf(request))
    const answer = await this.#thread.ask({ file, request, texts }, weight)
    if ('input' in answer) return answer
    if (file && answer.broke) this.#resting.set(file, Date.now() + restMs)
    this.#tell(answer.problem, file, request)
    return estimated(request, texts)
  }

  used(request: ModelRequest, answers: readonly Unreported[]): Promise<Usage[]> {
    return Promise.all(answers.map((answer) => usedBy(answer, request, this)))
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

  #tell(reason: string, file: TokenizerFile | undefined, { model }: ModelRequest): void {
    const now = performance.now()
    if (reason === this.#told.reason && now - this.#told.at < toldMs) return
    this.#told = { reason, at: now }
    this.#log?.warn(
      { tokenizer: file?.name, model, reason },
      'tokens could not be counted, and are estimated',
    )
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}

function estimated(request: ModelRequest, texts: readonly string[]): Counted {
  return { input: estimateRequest(request), output: estimatorOf(request.model).countAll(texts) }
}
