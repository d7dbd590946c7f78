import { isDeepStrictEqual } from 'node:util'
import { ConfigError } from '../../config/config.ts'
import type { StoredSetting } from '../../config/setting.ts'
import { conflict } from '../../kit/errors.ts'
import { explain } from '../../kit/explain.ts'
import type { Change } from './change.ts'
import { giveBack, type Instance } from './instance.ts'
import { migrate } from './migration.ts'
import { Offers } from './offers.ts'
import { missingOf, type Plugin, type Plugins } from './plugin-record.ts'
import { liveOf } from './plugin-table.ts'
import type { Records } from './records.ts'
import { type SetupParts, settingsOf, setUp } from './setup.ts'

/** How long what a plugin remembers is kept once it is switched off, in milliseconds. */
const memoryMs = 10 * 60_000

/** The plugins as a change leaves them, made beside those that run: nothing else sees them until they are swapped in. */
export class Transaction {
  readonly plugins: Map<string, Plugin>
  /** The plugin that is being made ready: the one to blame when the change fails. */
  at: string | undefined
  /** Settings that were carried over to another version, to be written with the change. */
  readonly rows = new Map<string, StoredSetting>()
  readonly #before: Plugins
  readonly #parts: SetupParts
  readonly #records: Records
  readonly #started = new Map<Instance, () => Promise<void>>()
  /** Of all that run so far, while plugins are started one by one. */
  #offers: Offers | undefined

  constructor(before: Plugins, parts: SetupParts, records: Records) {
    this.plugins = new Map(before)
    this.#before = before
    this.#parts = parts
    this.#records = records
  }

  /** Makes everything ready. Throws when that cannot be; `undo` must follow then. */
  async make({ put = [], remove = [], start = 'all' }: Change): Promise<void> {
    for (const { id } of remove) this.plugins.delete(id)
    for (const plugin of put) this.plugins.set(plugin.id, plugin)
    for (const plugin of start === 'all' ? put : []) {
      this.at = plugin.id
      this.plugins.set(plugin.id, await this.#ready(plugin))
    }
    this.at = (put[0] ?? remove[0])?.id
    this.#refuseIfNeeded()
    const came = start === 'some' ? undefined : new Set(put.map(({ id }) => id))
    // The gateway's own plugins claim first, so no other can claim the same before them.
    const tried = new Set<string>()
    await this.#wake(({ found }) => found.source === 'builtin', came, tried)
    await this.#wake(() => true, came, tried)
  }

  /** Gives back everything that was acquired for the change, last acquired first. */
  async undo(): Promise<void> {
    for (const undo of [...this.#started.values()].reverse()) await undo()
  }

  /** Once the change holds: has what is measured, remembered and kept on disk go by it. */
  settle(): void {
    const held = new Set([...this.plugins.values()].map(({ release }) => release))
    for (const { release } of this.#before.values()) if (!held.has(release)) release?.()
    for (const [plugin, { version }] of this.rows) {
      const facts = { plugin, from: this.plugins.get(plugin)?.stored?.before?.version, to: version }
      this.#parts.log.info(facts, 'settings of a plugin were carried over to another version')
      this.plugins.get(plugin)?.meter.event('migrated', `settings of ${facts.from ?? 'before'} to ${version}`)
    }
    for (const plugin of this.plugins.values()) {
      const { id, instance, manifest, meter, memory, setting } = plugin
      const before = this.#before.get(id)
      if (instance && this.#started.has(instance)) {
        meter.circuit.renew(manifest!)
        meter.deadlines.limitMs = meter.circuit.limits.timeout
      }
      if (setting?.enabled) memory.keep()
      else if (before?.setting?.enabled) memory.fade(memoryMs)
    }
  }

  /** The record with its instance, or with the reason why it has none for now. */
  async #ready(plugin: Plugin): Promise<Plugin> {
    const { manifest, setting, found } = plugin
    const before = this.#before.get(plugin.id)
    if (!manifest || !setting || found.problem) throw new Error(found.problem ?? 'it has no manifest')
    if (!setting.enabled) {
      // A plugin can be switched off however wrong its settings are.
      const isSet = before?.found === found && !isDeepStrictEqual(before.setting?.config, setting.config)
      if (isSet) await settingsOf(plugin, this.#parts.isolation)
      return { ...plugin, instance: undefined, problem: undefined }
    }
    const missing = missingOf(plugin, this.plugins).join(', ')
    if (missing && before?.instance) throw new Error(`it needs ${missing}`)
    if (missing) return { ...plugin, problem: `waits for ${missing}` }
    return plugin.instance ? plugin : this.#start(plugin)
  }

  async #start(given: Plugin): Promise<Plugin> {
    const stored = await migrate(given, this.#parts.isolation)
    const module = given.binding && this.plugins.get(given.binding.module)?.setting
    const plugin = stored === given.stored ? given : this.#records.withSettings(given, stored, module)
    const { id, memory } = plugin
    const { source } = memory
    const instance = await setUp(plugin, this.#parts, this.plugins, this.#before)
    this.#started.set(instance, async () => {
      this.#started.delete(instance)
      await giveBack(instance, this.#parts.log)
      memory.source = source
    })
    if (stored && plugin !== given) this.rows.set(id, stored)
    return { ...plugin, instance, problem: undefined }
  }

  /** Throws a conflict when something that runs needs what does not run any more. */
  #refuseIfNeeded(): void {
    const running = [...this.plugins.values()].filter(({ binding, instance }) => !binding && instance)
    const [gone] = running.flatMap((plugin) => missingOf(plugin, this.plugins))
    if (gone === undefined) return
    const dependants = running.filter(({ manifest }) => manifest?.requires.includes(gone))
    throw conflict(`${gone} is needed by ${dependants.map(({ id }) => id).join(', ')}; disable those first.`)
  }

  /**
   * Starts those that are switched on and have what they need, until none is left. With the ids of what has come, only
   * those that need it, or one another: what failed for a reason of its own is left alone. One that fails is left with its
   * problem.
   */
  async #wake(may: (plugin: Plugin) => boolean, came: Set<string> | undefined, tried: Set<string>) {
    const isWanted = ({ id, instance, setting, found, manifest }: Plugin): boolean =>
      !instance &&
      setting?.enabled === true &&
      !found.problem &&
      !tried.has(id) &&
      (!came || (manifest?.requires.some((needed) => came.has(needed)) ?? false))
    for (let progress = true; progress; ) {
      progress = false
      for (const plugin of [...this.plugins.values()].filter((one) => may(one) && isWanted(one))) {
        const missing = missingOf(plugin, this.plugins).join(', ')
        if (missing) this.plugins.set(plugin.id, { ...plugin, problem: `waits for ${missing}` })
        if (missing) continue
        tried.add(plugin.id)
        this.plugins.set(plugin.id, await this.#tryStart(plugin))
        came?.add(plugin.id)
        progress = true
      }
    }
  }

  async #tryStart(plugin: Plugin): Promise<Plugin> {
    let started: Plugin | undefined
    try {
      started = await this.#start(plugin)
      this.#offers ??= new Offers(liveOf(this.plugins))
      this.#offers.add(started.instance!)
      return started
    } catch (error) {
      this.#offers = undefined
      if (started?.instance) await this.#started.get(started.instance)?.()
      const problem = explain(error)
      this.#parts.log.error({ plugin: plugin.id, problem }, 'a plugin could not be started')
      return {
        ...plugin,
        problem,
        ...(error instanceof ConfigError && { misconfigured: error.problems }),
      }
    }
  }
}
