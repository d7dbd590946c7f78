import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { explain } from '../../../../kit/explain.ts'
import { type Conformance, conform } from '../conform.ts'
import type { News } from './news.ts'

/** Runs the conformance kit whenever the plugin has changed, and tells what became of each check. One run at a time: the newest. */
export class Verdicts {
  readonly #folder: string
  readonly #tell: (news: News) => void
  #last: Conformance = []
  readonly #temporary: string
  #run: AbortController | undefined
  #ended: Promise<unknown> = Promise.resolve()

  static async start(folder: string, tell: (news: News) => void): Promise<Verdicts> {
    return new Verdicts(folder, tell, await mkdtemp(path.join(tmpdir(), 'switchyard-dev-kit-')))
  }

  private constructor(folder: string, tell: (news: News) => void, temporary: string) {
    this.#folder = folder
    this.#tell = tell
    this.#temporary = temporary
  }

  /** Resolves with whether the plugin keeps to everything; undefined when another look, or the end, came first. */
  look(): Promise<boolean | undefined> {
    this.#run?.abort()
    const run = new AbortController()
    this.#run = run
    const verdict = this.#ended.then(() => (run.signal.aborted ? undefined : this.#examine(run.signal)))
    this.#ended = verdict
    return verdict
  }

  /** Ends a run that is under way; resolves when nothing of it is left. */
  async close(): Promise<void> {
    this.#run?.abort()
    await this.#ended
    await rm(this.#temporary, { recursive: true, force: true })
  }

  async #examine(signal: AbortSignal): Promise<boolean | undefined> {
    try {
      const checks = await conform(this.#folder, process.cwd(), { signal, temporary: this.#temporary })
      const before = new Map(this.#last.map(({ check, ok }) => [check, ok]))
      const changed = checks.filter(({ check, ok }) => before.get(check) !== ok).map(({ check }) => check)
      this.#last = checks
      const ok = checks.every((check) => check.ok)
      this.#tell({ event: 'checks', ok, checks, changed })
      return ok
    } catch (error) {
      if (signal.aborted) return undefined
      this.#tell({ event: 'problem', problem: explain(error) })
      return false
    }
  }
}
