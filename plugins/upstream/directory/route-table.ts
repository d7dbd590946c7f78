import { type Actor, type Context, conflict, type Registry } from '#kernel'
import { compileGlobs } from '#kit'
import {
  type RouteRule,
  routeRows,
  routeSection,
  rowId,
  type StoredRoutes,
  sectionName,
  type Ways,
} from './route-section.ts'

type Said = { match: string; provider: string; model?: string | undefined; priority?: number }
type Compiled = RouteRule & { readonly matches: (model: string) => boolean }

interface Parts extends Ways {
  /** Makes a change that is planned while nothing else changes. */
  readonly apply: Registry['apply']
}

/**
 * The operator's table of providers by model. A table set at runtime replaces the whole table of service.yaml, also after a
 * restart, until it is cleared.
 */
export class RouteTable {
  readonly #configured: readonly RouteRule[]
  #apply: Registry['apply'] | undefined
  #leads: Parts['leads'] = () => []
  #stored: StoredRoutes | undefined
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
    { isThere, leads, apply }: Parts,
  ): Promise<RouteTable> {
    const table = new RouteTable(configured)
    const rows = routeRows(store)
    table.#apply = apply
    table.#leads = leads
    section(routeSection(rows, table.#configured, { isThere, leads }))
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

  /** Throws a conflict while a rule, or a module, leads to a provider that is to go. */
  demandNoneTo(provider: string): void {
    const rule = this.rules.find((one) => one.provider === provider)
    if (rule)
      throw conflict(`The route ${rule.match} leads to ${provider}; change the table of routes first.`)
    const lead = this.#leads().find((one) => one.provider === provider)
    if (lead)
      throw conflict(
        `${lead.module}: ${lead.from} leads to ${provider}; change the settings of ${lead.module} first.`,
      )
  }

  /**
   * Sets the whole table, or goes back to that of service.yaml. What comes after it resolves goes by it. `demand` is given the
   * rules that hold then while nothing else changes, and throws for those that cannot be as things are.
   */
  async replace(
    rules: readonly RouteRule[] | null,
    actor: Actor | undefined,
    demand: (rules: readonly RouteRule[]) => void,
  ): Promise<void> {
    if (!this.#apply) throw new Error('a route table without a store cannot be replaced')
    await this.#apply(async () => {
      demand(rules ?? this.#configured)
      return { rows: new Map(), values: [{ section: sectionName, key: rowId, value: rules ?? undefined }] }
    }, actor)
  }

  #take(row: StoredRoutes | undefined): void {
    this.#stored = row
    this.#compiled = (row?.rules ?? this.#configured)
      .map((rule) => ({ ...rule, matches: compileGlobs([rule.match]) }))
      .sort((a, b) => b.priority - a.priority)
    this.#edition += 1
  }
}
