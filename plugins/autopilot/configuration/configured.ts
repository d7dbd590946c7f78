import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { type Actor, badRequest, type Collection, type Context } from '#kernel'
import { changed, followRows, rowSection } from '#kit'
import { type Configuration, configuration, mismatchOf } from './fields.ts'

const key = 'config'

const row = z.object({
  id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  /** The fields that were set at runtime. */
  set: z.record(z.string(), z.unknown()),
})
type Row = z.infer<typeof row>

/** The configuration: what service.yaml says, and over it what was set at runtime, in memory of every thread. */
export class Configured {
  readonly #rows: Collection<Row>
  readonly #set: ReturnType<Context<unknown>['section']>
  readonly #file: object
  readonly #log: Context<unknown>['log']
  #row: Row | undefined
  #told: () => void = () => {}
  #current: Configuration

  constructor({ store, section, log }: Pick<Context<unknown>, 'store' | 'section' | 'log'>, file: object) {
    this.#log = log
    this.#file = file
    this.#current = this.#with({})
    this.#rows = store.collection('configuration', { schema: row })
    this.#set = section(
      rowSection<Row>({
        name: 'autopilot',
        rows: this.#rows,
        most: 1,
        fieldsOf: (form) => ({ set: this.#checked(form) }),
        formOf: ({ set }) => set,
      }),
    ) as ReturnType<Context<unknown>['section']>
  }

  /**
   * Takes in what is stored, and from then on every change, such as an import. `told` is called after each. Returns what ends that.
   */
  async load(told: () => void): Promise<() => void> {
    const end = await followRows(this.#rows, (_, row) => this.#take(row))
    this.#told = told
    return end
  }

  get current(): Configuration {
    return this.#current
  }

  /** Whether calls may go where autopilot says. */
  get isOn(): boolean {
    const { enabled, reference_model } = this.#current
    return enabled || reference_model !== null
  }

  /** When it was changed at runtime. */
  get updatedAt(): string | undefined {
    return this.#row?.updated_at
  }

  /** Sets fields; null clears one, so that it is as service.yaml says. Resolves when it is on disk and holds here. */
  async change(change: object, actor: Actor): Promise<Configuration> {
    const now = new Date().toISOString()
    const before = await this.#rows.get(key)
    const set = changed(before?.set ?? {}, change, z.record(z.string(), z.unknown()))
    const next = { id: key, set: this.#checked(set), created_at: before?.created_at ?? now, updated_at: now }
    if (isDeepStrictEqual(next.set, before?.set ?? {})) return this.#current
    await this.#set(key, next, actor)
    this.#take(next)
    return this.#current
  }

  /** The fields of a form; throws a bad request that names the one that does not fit. */
  #checked(form: object): Record<string, unknown> {
    this.#with(form)
    return Object.fromEntries(Object.entries(form).filter(([, value]) => value !== null))
  }

  #with(set: object): Configuration {
    const known = changed(this.#file, set, configuration)
    const wrong = mismatchOf(known)
    if (wrong) throw badRequest(`${wrong.field} ${wrong.rule}.`, { param: wrong.field })
    return known
  }

  #take(row: Row | undefined): void {
    this.#row = row
    try {
      this.#current = this.#with(row?.set ?? {})
    } catch (error) {
      // service.yaml has changed since: calls go where they would without autopilot, until an admin has said which of both holds.
      this.#log.error({ err: error }, 'what was set of autopilot does not fit service.yaml: it is off')
      this.#current = { ...this.#with({}), enabled: false }
    }
    this.#told()
  }
}
