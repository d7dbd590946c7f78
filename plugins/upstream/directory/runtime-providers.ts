import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import {
  type Actor,
  badRequest,
  type Collection,
  type Context,
  type PortableSection,
  type Registry,
  type Secrets,
} from '#kernel'
import type { ProviderEntries } from '../sections.ts'
import { type ProviderSaid, saidBy, sharedOf, shownOf, storedSaid, withheldOf } from './provider-said.ts'
import { UnreadableProvider } from './unreadable.ts'

/** Fields that are absent stay as they are; null goes back to what service.yaml says. */
export type ProviderChange = { readonly [K in keyof ProviderSaid]?: ProviderSaid[K] | null | undefined }

type Entry = ProviderEntries[string]
/** The effective settings of a provider: those set at runtime outweigh the environment. */
export type RuntimeEntry = Entry & {
  readonly runtime?: ProviderSaid
  /** Something was said at runtime that cannot be read. */
  readonly unreadable?: UnreadableProvider
}

const row = z.object({
  sealed: z.string(),
  /** The models of what is sealed, if it names any: calls for these are refused when it cannot be read. */
  models: z.array(z.string()).optional(),
  updated_at: z.string(),
})
type Row = z.output<typeof row>

interface Parts {
  readonly configured: ProviderEntries
  /** Whether such an entry, or none, makes a provider with the plugins that are switched on. */
  readonly isProvider: (name: string, entry: Entry | undefined) => boolean
  readonly secrets: Pick<Secrets, 'encrypt' | 'decrypt'>
  /** Throws a bad request when such an entry makes no provider that works. */
  readonly check: (name: string, entry: RuntimeEntry) => void
  /** Makes a change that is planned while nothing else changes. */
  readonly apply: Registry['apply']
}

const sectionName = 'providers'

/** Throws for a change that cannot be as things are; asked while nothing else changes. */
type Demand = () => void
const nothing: Demand = () => {}

/**
 * The entries of service.yaml with what was said of providers at runtime on top, which is stored encrypted as a whole and is
 * a section of the configuration.
 */
export class RuntimeProviders {
  readonly #parts: Parts
  readonly #said = new Map<string, ProviderSaid | UnreadableProvider>()
  #entries: Readonly<Record<string, RuntimeEntry>>

  static async open(
    parts: Parts,
    { store, section, log }: Pick<Context<unknown>, 'store' | 'section' | 'log'>,
  ): Promise<RuntimeProviders> {
    const rows = store.collection('providers', { schema: row })
    const made = new RuntimeProviders(parts)
    const take = (id: string, stored: Row | undefined): void => {
      const said = made.#take(id, stored)
      if (said instanceof UnreadableProvider)
        log.error(
          { err: said.cause, provider: id },
          'what was said of a provider at runtime cannot be read: its calls are refused',
        )
    }
    const asSection: PortableSection<string> = {
      name: sectionName,
      read: (transaction, key) => transaction.get(rows, key)?.sealed,
      write(transaction, key, sealed) {
        const updated_at = new Date().toISOString()
        if (sealed) transaction.put(rows, key, { sealed, models: made.#known(sealed)?.models, updated_at })
        else transaction.delete(rows, key)
      },
      check: (key, sealed) => sealed && parts.check(key, made.#entryOf(key, made.#open(sealed))),
      show: (sealed) => shownOf(() => made.#open(sealed)),
      async *all() {
        for await (const [id, { sealed }] of rows.scan()) yield [id, sealed]
      },
      shared: (sealed) => sharedOf(made.#known(sealed) ?? {}),
      withheld: (sealed) => withheldOf(made.#known(sealed) ?? {}),
      given(key, form, before) {
        const known = before === undefined ? undefined : made.#known(before)
        // Of one that cannot be read the form says nothing, and to send that back changes nothing.
        const next = saidBy(key, form, known)
        if (before !== undefined && !known && Object.keys(next).length === 0) return before
        return isDeepStrictEqual(next, known) ? before : parts.secrets.encrypt(JSON.stringify(next))
      },
    }
    section(asSection)
    await made.#nameModels(rows)
    rows.watch(({ id, row: stored }) => take(id, stored))
    for await (const [id, stored] of rows.scan()) take(id, stored)
    return made
  }

  private constructor(parts: Parts) {
    this.#parts = parts
    this.#entries = parts.configured
  }

  /** Another object whenever something has changed. */
  get entries(): Readonly<Record<string, RuntimeEntry>> {
    return this.#entries
  }

  /** Whether something was said of a provider at runtime. */
  has(provider: string): boolean {
    return this.#said.has(provider)
  }

  /** Whether what was said of a provider cannot be read. */
  isUnreadable(provider: string): boolean {
    return this.#said.get(provider) instanceof UnreadableProvider
  }

  /** Whether there is such a provider only because of what was said at runtime. */
  isAdded(provider: string): boolean {
    return this.has(provider) && !this.#parts.isProvider(provider, this.#configuredOf(provider))
  }

  /** Whether there is such a provider also while no plugin is called so. */
  needsNoPlugin(provider: string): boolean {
    const entry = Object.hasOwn(this.#entries, provider) ? this.#entries[provider] : undefined
    return entry?.type !== undefined || entry?.unreadable !== undefined
  }

  /**
   * Says something of a provider: for the calls that come after, in all threads. Of changes at a time each adds to the one
   * before it.
   */
  async change(
    provider: string,
    change: ProviderChange,
    actor?: Actor,
    demand: Demand = nothing,
  ): Promise<void> {
    if (change.api_key && change.keys)
      throw badRequest('Send either api_key or keys, not both.', { param: 'keys' })
    await this.#set(provider, () => this.#changed(provider, change), { actor, demand })
  }

  /** Forgets what was said of a provider at runtime. */
  async remove(provider: string, actor?: Actor, demand: Demand = nothing): Promise<void> {
    await this.#set(provider, () => undefined, { actor, demand })
  }

  async #set(
    key: string,
    next: () => ProviderSaid | undefined,
    { actor, demand }: { actor: Actor | undefined; demand: Demand },
  ): Promise<void> {
    await this.#parts.apply(async () => {
      demand()
      const said = next()
      const value = said && this.#parts.secrets.encrypt(JSON.stringify(said))
      return { rows: new Map(), values: [{ section: sectionName, key, value }] }
    }, actor)
  }

  #changed(provider: string, change: ProviderChange): ProviderSaid {
    const before = this.#said.get(provider)
    const next: Record<string, unknown> = before instanceof UnreadableProvider ? {} : { ...before }
    if (change.api_key) delete next.keys
    if (change.keys) delete next.api_key
    for (const [field, value] of Object.entries(change)) {
      if (value === null) delete next[field]
      else if (value !== undefined) next[field] = value
    }
    return next as ProviderSaid
  }

  /** Has the rows that earlier versions wrote name their models, as far as these can be read. */
  async #nameModels(rows: Collection<Row>): Promise<void> {
    for await (const [id, { sealed, models }] of rows.scan()) {
      if (models || !this.#known(sealed)?.models) continue
      await rows.update(id, (now) => now && { ...now, models: this.#known(now.sealed)?.models })
    }
  }

  #take(provider: string, stored: Row | undefined): ProviderSaid | UnreadableProvider | undefined {
    const said = stored && this.#read(provider, stored)
    if (said) this.#said.set(provider, said)
    else this.#said.delete(provider)
    const own = Array.from(this.#said, ([id, one]) => [id, this.#entryOf(id, one)] as const)
    this.#entries = { ...this.#parts.configured, ...Object.fromEntries(own) }
    return said
  }

  #read(provider: string, { sealed, models }: Row): ProviderSaid | UnreadableProvider {
    try {
      return this.#open(sealed)
    } catch (error) {
      return new UnreadableProvider(provider, models, error)
    }
  }

  #entryOf(provider: string, runtime: ProviderSaid | UnreadableProvider): RuntimeEntry {
    if (runtime instanceof UnreadableProvider)
      return {
        ...this.#configuredOf(provider),
        ...(runtime.models && { models: runtime.models }),
        unreadable: runtime,
      } as RuntimeEntry
    const { base_url, api_key, keys, org_id, ...rest } = runtime
    const { apiKey, keys: pool, ...configured } = this.#configuredOf(provider) ?? {}
    const hasKeys = api_key !== undefined || keys !== undefined
    return {
      ...configured,
      ...(hasKeys ? {} : { apiKey, keys: pool }),
      ...rest,
      ...(base_url !== undefined && { baseUrl: base_url }),
      ...(api_key !== undefined && { apiKey: api_key }),
      ...(keys && { keys: keys.map((one) => ({ apiKey: one.api_key, weight: one.weight })) }),
      ...(org_id !== undefined && { orgId: org_id }),
      runtime,
    } as RuntimeEntry
  }

  /** The entry of service.yaml; a provider may be called as what every object has. */
  #configuredOf(provider: string): Entry | undefined {
    const { configured } = this.#parts
    return Object.hasOwn(configured, provider) ? configured[provider] : undefined
  }

  /** What was sealed; undefined where it cannot be read. */
  #known(sealed: string): ProviderSaid | undefined {
    try {
      return this.#open(sealed)
    } catch {
      return undefined
    }
  }

  #open(sealed: string): ProviderSaid {
    return storedSaid.parse(JSON.parse(this.#parts.secrets.decrypt(sealed)))
  }
}

/** Where a key comes from, and what wins: what was said at runtime, then the environment, then service.yaml. */
export const isRuntime = (entry: RuntimeEntry | undefined, ...fields: (keyof ProviderSaid)[]): boolean =>
  fields.some((field) => entry?.runtime?.[field] !== undefined)
