import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { Store } from '../contract/index.ts'
import type { Engine } from '../storage/index.ts'
import { openLevel } from '../storage/level.ts'
import { type JobsProcess, openJobs } from './jobs.ts'

/** One engine for the tests of a file. Each has a part of it, and the jobs that they open are closed at the end. */
export class JobsEngine {
  engine!: Engine
  #folder = ''
  #parts = 0
  readonly #opened: JobsProcess[] = []

  constructor() {
    beforeAll(async () => {
      this.#folder = await mkdtemp(path.join(tmpdir(), 'switchyard-jobs-'))
      this.engine = await openLevel(this.#folder)
    })
    afterAll(async () => {
      for (const { close } of this.#opened) await close()
      await this.engine.close()
      await rm(this.#folder, { recursive: true, force: true })
    })
  }

  /** The name of the part that was made last. */
  get part(): string {
    return `part-${this.#parts}`
  }

  readonly newStore = (): Store => {
    this.#parts += 1
    return this.engine.namespace(this.part)
  }

  readonly open = async (...given: Parameters<typeof openJobs>): Promise<JobsProcess> => {
    const made = await openJobs(...given)
    this.#opened.push(made)
    return made
  }
}
