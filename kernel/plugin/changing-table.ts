import { conflict, isGatewayError } from '../../kit/errors.ts'
import { explain } from '../../kit/explain.ts'
import { StoreError } from '../../storage/index.ts'
import type { Actor, Section } from '../contract/section.ts'
import type { Change, NumberedNews, PluginNews } from './change.ts'
import type { Generation } from './generation.ts'
import type { Journal } from './journal.ts'
import { refuseLockout } from './lockout.ts'
import { ModuleChanged } from './module-events.ts'
import { withOnce } from './once.ts'
import type { Plugins } from './plugin-record.ts'
import { liveOf, PluginTable, type TableParts } from './plugin-table.ts'
import { type RecordParts, Records } from './records.ts'
import type { SetupParts } from './setup.ts'
import { Transaction } from './transaction.ts'

type Parts = SetupParts &
  RecordParts & {
    /** Called with each change that was made, before the next one begins. */
    readonly announce?: (news: NumberedNews) => Promise<void>
    /** Only the first thread has it; the others receive the numbers of their generations. */
    readonly journal?: Journal | undefined
  }

/** A table whose plugins change one change at a time, each wholly or not at all, with an entry in the journal. */
export class ChangingTable extends PluginTable {
  protected readonly parts: Parts
  protected readonly records: Records
  /** The plugins as the change that is being made will leave them. */
  #draft: Plugins | undefined
  #last: Promise<unknown> = Promise.resolve()
  #expected: number | undefined

  constructor(given: Omit<Parts, 'service' | 'current' | 'configure'> & TableParts) {
    super(given)
    this.records = new Records(given, this)
    this.parts = {
      ...given,
      // Looked through one by one only while a change is made: some services are asked for with every call and never there.
      service: (token) =>
        this.generation.services.get(token) ??
        (this.#draft &&
          withOnce(liveOf(this.#draft))
            .find(({ services }) => services.has(token))
            ?.services.get(token)),
      current: (instance) => {
        const { id } = instance
        const latest = this.find(id)?.instance ?? this.#draft?.get(id)?.instance
        if (latest) return instance === latest || instance === latest.once?.instance
        return this.bindings(id).some((binding) => binding.instance?.once?.instance === instance)
      },
      configure: (section, key, value, actor) => this.#set(section, key, value, actor),
    }
  }

  /** In another thread than the first: the number of the generations to come. */
  expect(generation: number): void {
    this.#expected = generation
  }

  /** Has the present generation the number that is expected, whatever there was to follow. */
  renumber(): Promise<void> {
    return this.whileStill(async () => {
      if (this.generation.number !== this.#expected) await this.make({})
    })
  }

  /** Does something while nothing changes. */
  whileStill<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }

  /** The one way in which plugins change. When it rejects, everything is as it was, and whose fault it is says why. */
  protected async make(change: Change): Promise<void> {
    const before = this.all
    const made = new Transaction(before, this.parts, this.records)
    this.#draft = made.plugins
    let next: Generation | undefined
    try {
      this.refuseStale(change.actor)
      for (const { section, key, value } of change.values ?? []) section.check?.(key, value)
      await made.make(change)
      next = this.arrange(await this.#nextNumber(), made.plugins)
      if (change.actor) await refuseLockout(next.chain, change.actor)
      if (change.isTrial) {
        await next.retire(0)
        return await made.undo()
      }
      const rows = new Map([...(change.rows ?? []), ...made.rows])
      const { number: generation } = next
      await this.parts.journal?.write({ ...change, rows, generation, before, after: made.plugins })
      this.swap(made.plugins, next)
    } catch (error) {
      await next?.retire(0)
      await made.undo()
      throw this.refusal(error, made.at, change.news)
    } finally {
      this.#draft = undefined
    }
    made.settle()
    if (change.news) await this.#announce(change.news, before, change.actor)
  }

  /** A part of the configuration that a plugin keeps. Throws a conflict while the plugin is off. */
  protected section(name: string): Section {
    const found = this.generation.sections.get(name)
    if (found) return found
    throw conflict(`The plugin that keeps ${name} is not switched on.`)
  }

  /** Sets what a section has under a key, or clears it. */
  #set(section: string, key: string, value: unknown, actor?: Actor): Promise<void> {
    return this.whileStill(async () => {
      const values = [{ section: this.section(section), key, value }]
      await this.make({ values, actor, news: { set: [] } })
    })
  }

  async #nextNumber(): Promise<number> {
    const { journal } = this.parts
    return journal ? (await journal.last()) + 1 : (this.#expected ?? this.generation.number + 1)
  }

  /** Throws a conflict for a change that is wanted of another generation. */
  protected refuseStale(actor: Actor | undefined): void {
    const { number } = this.generation
    if ((actor?.ifGeneration ?? number) === number) return
    throw conflict(`The configuration is now at generation ${number}: read it again.`, {
      param: 'if_generation',
      details: { generation: number },
    })
  }

  /** Notes and logs why a change was not made, and gives what is to be thrown. */
  protected refusal(error: unknown, at: string | undefined, news: PluginNews | undefined): unknown {
    const problem = explain(error)
    const installed = news && 'installed' in news ? news.installed : undefined
    for (const plugin of this.all.values())
      if (plugin.id === at || plugin.id === installed) plugin.problem = problem
    this.parts.log.warn({ plugin: at, problem }, 'a change of plugins was refused')
    if (error instanceof StoreError) return error
    const isOwn = isGatewayError(error)
    const what = at === undefined ? 'The change could not be made' : `${at} could not be started`
    if (installed === undefined) return isOwn ? error : conflict(`${what}: ${problem}`, { cause: error })
    if (isOwn && error.status !== 400) return error
    return conflict(`${installed} keeps its version: ${problem}`, {
      param: isOwn ? error.param : undefined,
      cause: error,
    })
  }

  async #announce(news: PluginNews, before: Plugins, cause: Actor | undefined): Promise<void> {
    const { number: generation } = this.generation
    for (const name of Object.values(news).flat() as string[]) {
      const plugin = this.find(name)
      const { log, relay } = this.parts
      if (!('set' in news) && (relay?.isFirst ?? true)) {
        const { manifest, found } = plugin ?? before.get(name)!
        const what = plugin ? (before.has(name) ? 'has other code' : 'was added') : 'was removed'
        log.info({ plugin: name, version: manifest?.version, source: found.source }, `a plugin ${what}`)
      }
      const enabled = plugin?.setting?.enabled ?? false
      const state = plugin ? this.stateOf(plugin) : 'removed'
      this.parts.events.emit(ModuleChanged, { name, enabled, state, generation }, { cause })
    }
    await this.parts.announce?.({ ...news, generation })
  }
}
