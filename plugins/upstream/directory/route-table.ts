import { z } from 'zod'
import type { Actor, Collection, Context, Store } from '#kernel'
import { compileGlobs } from '#kit'

/** One line of the table: which provider gets a model. */
export const routeRule = z.strictObject({
  match: z.string().min(1).max(256).meta({ description: 'A model name, or a glob such as gpt-*.' }),
  provider: z.string().min(1).max(256).meta({ description: 'The provider for these calls.' }),
  model: z
    .string()
    .min(1)
    .max(256)
    .nullable()
    .default(null)
    .meta({ description: "The provider's name for the model, if different." }),
  priority: z
    .int()
    .min(-1_000_000)
    .max(1_000_000)
    .default(0)
    .meta({ description: 'The matching rule with the highest priority is used; among equals the first.' }),
})

export type RouteRule = z.output<typeof routeRule>

const stored = z.object({ rules: z.array(routeRule), updated_at: z.string() })
type Stored = z.output<typeof stored>

/** The one row, and the one key of the section. */
const rowId = 'table'

/** The collection of the table that was set at runtime, in a part of the store. */
export const routeRows = (store: Store): Collection<Stored> => store.collection('routes', { schema: stored })

type Said = { match: string; provider: string; model?: string | undefined; priority?: number }
type SetTable = (key: string, rules: readonly RouteRule[] | undefined, actor?: Actor) => Promise<void>
type Compiled = RouteRule & { readonly matches: (model: string) => boolean }

/**
 * The operator's table of providers by model. A table set at runtime replaces the whole table of service.yaml, also after a
 * restart, until it is cleared.
 */
export class RouteTable {
  readonly #configured: readonly RouteRule[]
  #set: SetTable | undefined
  #stored: Stored | undefined
  #compiled: readonly Compiled[] = []
  #edition = 0

  /** The table of service.yaml; without a store it cannot be replaced. */
  constructor(configured: readonly Said[]) {
    this.#configured = configured.map(({ model = null, priority = 0, ...rest }) => ({
      ...rest,
      model,
      priority,
    }))
    this.#take(undefined)
  }

  static async open(
    configured: readonly Said[],
    { store, section }: Pick<Context<unknown>, 'store' | 'section'>,
  ): Promise<RouteTable> {
    const table = new RouteTable(configured)
    const rows = routeRows(store)
    table.#set = section<readonly RouteRule[]>({
      name: 'routes',
      read: (transaction) => transaction.get(rows, rowId)?.rules,
      write(transaction, _, rules) {
        const updated_at = new Date().toISOString()
        if (rules) transaction.put(rows, rowId, { rules: [...rules], updated_at })
        else transaction.delete(rows, rowId)
      },
    })
    rows.watch(({ row }) => table.#take(row))
    table.#take(await rows.get(rowId))
    return table
  }

  /** Changes with the rules. */
  get edition(): number {
    return this.#edition
  }

  /** In the order in which they count. */
  get rules(): readonly RouteRule[] {
    return this.#compiled.map(({ matches: _, ...rule }) => rule)
  }

  get source(): 'config' | 'api' {
    return this.#stored ? 'api' : 'config'
  }

  /** When the table was last set at runtime. */
  get updatedAt(): string | undefined {
    return this.#stored?.updated_at
  }

  find(model: string): RouteRule | undefined {
    return this.#compiled.find(({ matches }) => matches(model))
  }

  /** Sets the whole table, or goes back to that of service.yaml. What comes after it resolves goes by it. */
  async replace(rules: readonly RouteRule[] | null, actor?: Actor): Promise<void> {
    if (!this.#set) throw new Error('a route table without a store cannot be replaced')
    await this.#set(rowId, rules ?? undefined, actor)
  }

  #take(row: Stored | undefined): void {
    this.#stored = row
    this.#compiled = (row?.rules ?? this.#configured)
      .map((rule) => ({ ...rule, matches: compileGlobs([rule.match]) }))
      .sort((a, b) => b.priority - a.priority)
    this.#edition += 1
  }
}
