import { type Context, TraceReader } from '#kernel'
import { sourceUserOf } from '#kit'

interface OlderRow {
  readonly row: unknown
  readonly version: number
}

interface Migration {
  readonly version: number
  prepare(rows: readonly OlderRow[]): Promise<void>
  migrate(row: unknown): unknown
}

/**
 * Options of a collection whose first version did not say whose words its rows are about: each is asked of the trace that the row
 * names, in the field `trace`. A row whose trace is gone stays as it is, as nobody knows any more.
 */
export function tellingSourceUser(context: Pick<Context<unknown>, 'use'>, trace: string): Migration {
  const users = new WeakMap<object, string>()
  return {
    version: 2,
    async prepare(rows) {
      for (const { row } of rows) {
        const { [trace]: id } = row as Readonly<Record<string, unknown>>
        const past = typeof id === 'string' ? await context.use(TraceReader).get(id) : undefined
        const user = past && sourceUserOf(past)
        if (user !== undefined) users.set(row as object, user)
      }
    },
    migrate(row) {
      const user = users.get(row as object)
      return user === undefined ? row : { source_user_id: user, ...(row as object) }
    },
  }
}
