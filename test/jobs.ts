import type { Jobs, Store } from '../contract/index.ts'
import { createLog } from '../gateway/log.ts'
import { AesSecrets } from '../gateway/secrets/aes-secrets.ts'
import { Contents } from '../plugins/jobs/contents.ts'
import { Scheduler } from '../plugins/jobs/scheduler.ts'
import { JobsService } from '../plugins/jobs/service.ts'
import { emptyJobs, type JobsState } from '../plugins/jobs/state.ts'
import { JobTable } from '../plugins/jobs/table.ts'

/** A plugin that defines jobs, as far as jobs know of it. */
export class Owner {
  readonly id: string
  readonly #scope = new AbortController()
  readonly #releases: (() => unknown)[] = []
  #begins: (() => unknown)[] | undefined

  /** It answers calls from the beginning, or from `goLive` on. */
  constructor(id = 'test', { isLive = true }: { readonly isLive?: boolean } = {}) {
    this.id = id
    if (!isLive) this.#begins = []
  }

  get signal(): AbortSignal {
    return this.#scope.signal
  }

  readonly own = (release: () => unknown): void => void this.#releases.push(release)

  readonly whenLive = (begin: () => unknown): void => {
    if (this.#begins) this.#begins.push(begin)
    else begin()
  }

  goLive(): void {
    const begins = this.#begins ?? []
    this.#begins = undefined
    for (const begin of begins) begin()
  }

  /** Its instance goes: its signal aborts, and then it gives back one thing after the other, the last one first. */
  async release(): Promise<void> {
    this.#scope.abort()
    for (const release of this.#releases.splice(0).reverse()) await release()
  }
}

/** The jobs of a process, on a part of a store. */
export interface JobsProcess {
  readonly jobs: Jobs
  readonly table: JobTable
  readonly state: JobsState
  readonly logged: string[]
  /** Has plugins told of cancelled jobs that they could not be told of before. */
  remind(): Promise<void>
  /** Starts nothing any more: the plugin goes, or, where nothing it runs goes on either, the process. */
  close(): Promise<void>
}

/** The jobs of a store under a key that is always the same. */
export const openTable = (store: Store, now: () => number): JobTable =>
  new JobTable(store, now, new Contents(new AesSecrets(Buffer.alloc(32, 'key'))))

/** Opens jobs in a store as one process has it after another; `state` is what an instance left in the same process. */
export async function openJobs(
  store: Store,
  { now = Date.now, state = emptyJobs() }: { readonly now?: () => number; readonly state?: JobsState } = {},
): Promise<JobsProcess> {
  const logged: string[] = []
  const log = createLog({ level: 'info', stream: { write: (line: string) => void logged.push(line) } })
  const table = openTable(store, now)
  const scheduler = new Scheduler({ state, table, log, now })
  await scheduler.open()
  return {
    jobs: new JobsService({ table, now, state }),
    table,
    state,
    logged,
    remind: () => scheduler.remind(),
    close: () => scheduler.close(),
  }
}
