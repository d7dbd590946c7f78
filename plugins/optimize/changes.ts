import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import {
  type ApplyOptions,
  type Collection,
  Configuration,
  type Configured,
  type Context,
  conflict,
  newId,
  notFound,
} from '#kernel'
import type { Action, applied } from './shapes.ts'

type Actor = ApplyOptions['actor']

/** A change that was made, to be taken back. */
const madeRow = z.object({
  id: z.string(),
  action_id: z.string(),
  path: z.string(),
  before: z.unknown(),
  after: z.unknown(),
  created_at: z.string(),
  taken_back_at: z.string().optional(),
})
type MadeRow = z.infer<typeof madeRow>

/** Changes of the configuration that follow from actions, each of which can be taken back by itself. */
export class Changes {
  readonly #rows: Collection<MadeRow>
  readonly #configuration: () => Configuration

  constructor({ store, use }: Pick<Context<unknown>, 'store' | 'use'>) {
    this.#rows = store.collection('changes', { schema: madeRow })
    this.#configuration = () => use(Configuration)
  }

  /** What is set now. */
  read(): Promise<Configured> {
    return this.#configuration().read()
  }

  /**
   * Makes the changes of actions that are safe, as one generation. One of what somebody has changed since the action was found is left
   * out. The way back is on disk before the change is made.
   */
  async make(actions: readonly Action[], actor: Actor): Promise<z.infer<typeof applied>[]> {
    const rows = actions.flatMap((action) => rowFor(action) ?? [])
    if (rows.length === 0) return []
    for (const row of rows) await this.#rows.put(row.id, row)
    const { changes, after } = await this.#configuration().apply(
      (now) =>
        formsOf(
          rows.filter((row) => isSet(now, row.path, row.before)),
          'after',
        ),
      { actor },
    )
    const made = rows.filter((row) => changes.some(({ section, key }) => `${section}.${key}` === row.path))
    for (const row of rows) if (!made.includes(row)) await this.#rows.delete(row.id)
    return made.map(({ id, action_id }) => ({ action_id, generation: after.generation, rollback_id: id }))
  }

  /** Takes a change back. Throws a conflict where somebody has changed the same since. */
  async takeBack(id: string, actor: Actor): Promise<Configured> {
    const row = await this.#rows.get(id)
    if (!row) throw notFound(`There is no change ${id}.`, { param: 'rollback_id' })
    if (row.taken_back_at !== undefined)
      throw conflict(`The change ${id} was taken back at ${row.taken_back_at}.`, { param: 'rollback_id' })
    const { after } = await this.#configuration().apply(
      (now) => {
        if (isSet(now, row.path, row.after)) return formsOf([row], 'before')
        throw conflict(`${row.path} has been changed since. Change it by POST /api/config.`, {
          param: 'rollback_id',
        })
      },
      { actor },
    )
    await this.#rows.put(id, { ...row, taken_back_at: new Date().toISOString() })
    return after
  }
}

function rowFor({ id, auto_apply, change }: Action): MadeRow | undefined {
  if (!auto_apply || !change) return undefined
  const { path, before, after } = change
  return { id: newId('rbk_'), action_id: id, path, before, after, created_at: new Date().toISOString() }
}

const placeOf = (path: string): [section: string, key: string] => {
  const dot = path.indexOf('.')
  return [path.slice(0, dot), path.slice(dot + 1)]
}

function isSet({ sections }: Configured, path: string, form: unknown): boolean {
  const [section, key] = placeOf(path)
  return isDeepStrictEqual(sections[section]?.[key] ?? null, form)
}

function formsOf(rows: readonly MadeRow[], which: 'before' | 'after') {
  const forms: Record<string, Record<string, unknown>> = {}
  for (const row of rows) {
    const [section, key] = placeOf(row.path)
    forms[section] = { ...forms[section], [key]: row[which] }
  }
  return forms
}
