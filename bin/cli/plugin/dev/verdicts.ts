import { explain } from '../../../../kernel/plugin/manifest.ts'
import { type Conformance, conform } from '../conform.ts'
import type { News } from './news.ts'

/** Runs the conformance kit whenever the plugin has changed, and tells what became of each check. One run at a time: the newest. */
export class Verdicts {
  readonly #folder: string
  readonly #tell: (news: News) => void
  #last: Conformance = []
  #run: AbortController | undefined

  constructor(folder: string, tell: (news: News) => void) {
    this.#folder = folder
    this.#tell = tell
  }

  /** Resolves with whether the plugin keeps to everything; undefined when another look, or the end, came first. */
  async look(): Promise<boolean | undefined> {
    this.close()
    const run = new AbortController()
    this.#run = run
    try {
      const checks = await conform(this.#folder, process.cwd(), run.signal)
      const before = new Map(this.#last.map(({ check, ok }) => [check, ok]))
      const changed = checks.filter(({ check, ok }) => before.get(check) !== ok).map(({ check }) => check)
      this.#last = checks
      const ok = checks.every((check) => check.ok)
      this.#tell({ event: 'checks', ok, checks, changed })
      return ok
    } catch (error) {
      if (run.signal.aborted) return undefined
      this.#tell({ event: 'problem', problem: explain(error) })
      return false
    }
  }

  /** Ends a run that is under way. */
  close(): void {
    this.#run?.abort()
  }
}
