import type { z } from 'zod'
import type { SealedJson } from '#kit'
import type { RunRow } from './rows.ts'
import { type runDetail, shownRun } from './shown.ts'
import type { RunStore } from './store.ts'

/** What runs and their steps took in and put out, as it is stored and as it is shown. */
export class RunTexts {
  readonly json: SealedJson
  readonly #store: RunStore

  constructor(store: RunStore, json: SealedJson) {
    this.#store = store
    this.json = json
  }

  /** A value as it is stored for the owner of a run. */
  write({ principal: { userId: user_id, tenant } }: RunRow, value: unknown): Promise<string> {
    return this.json.write({ user_id, tenant }, value)
  }

  /** The value that is stored; null where there is none, or it cannot be opened any more. */
  async read(stored: string | undefined): Promise<unknown> {
    const opened = stored === undefined ? undefined : await this.json.read(stored)
    return opened?.value ?? null
  }

  /** A run with its input and its output. */
  async detailOf(row: RunRow): Promise<z.infer<typeof runDetail>> {
    const [input, output] = await Promise.all([
      this.#store.textOf(row.id, 'input'),
      this.#store.textOf(row.id, 'output'),
    ])
    return { ...shownRun(row), input: await this.read(input), output: await this.read(output) }
  }
}
