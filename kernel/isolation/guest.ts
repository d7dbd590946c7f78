import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { GuestStore } from '../../storage/shared/guest-store.ts'
import { checkedHooks } from '../chain/returned.ts'
import { contain, detach, onContained } from '../contain.ts'
import type { ModuleDefinition } from '../contract/plugin.ts'
import { HookFault } from '../hook-fault.ts'
import { jsonSchemaOf } from '../kit/json-schema.ts'
import type { Log } from '../log.ts'
import { load } from '../plugin/loader.ts'
import { explain } from '../plugin/manifest.ts'
import { Scope } from '../plugin/scope.ts'
import { resolveStagedAlone } from '../plugin/staging/imports.ts'
import { GuestAsks } from './guest-asks.ts'
import { GuestCalls } from './guest-calls.ts'
import { guestContext } from './guest-context.ts'
import { GuestEvents } from './guest-events.ts'
import { guestLog } from './guest-log.ts'
import { GuestModule, type Ran } from './guest-module.ts'
import type { GuestData, Job, ToGuest, ToHost } from './messages.ts'
import { Outbox } from './outbox.ts'
import { thrownOf } from './thrown.ts'

/** The other side of a worker host: one module, and the messages that it is run by. */
class Guest {
  readonly #data: GuestData
  readonly #log: Log
  readonly #scope: Scope
  readonly #memory: Map<string, unknown>
  readonly #outbox: Outbox<ToHost>
  readonly #calls: GuestCalls
  readonly #asks: GuestAsks
  readonly #store: GuestStore
  readonly #events: GuestEvents
  #module: GuestModule | undefined

  constructor(data: GuestData) {
    this.#data = data
    this.#scope = new Scope(data.id)
    this.#memory = new Map(Object.entries(data.memory))
    this.#outbox = new Outbox(
      (messages) => parentPort!.postMessage(messages),
      (message) => this.#refuse(message),
    )
    const tell = (message: ToHost): void => this.#outbox.add(message)
    this.#calls = new GuestCalls(tell)
    this.#asks = new GuestAsks(tell)
    this.#log = guestLog(tell)
    onContained((origin, err) => this.#log.error({ err, origin }, 'something failed that nobody waits for'))
    this.#store = new GuestStore({
      send: (store) => this.#asks.ask({ ask: 'store', store }),
      failed: (err) => this.#log.error({ err }, 'something in the store failed'),
      withoutLogs: noLogs,
    })
    this.#events = new GuestEvents(this.#scope, this.#calls, tell, (err, event) => {
      this.#log.error({ err, event }, 'a listener failed')
    })
  }

  async start(): Promise<void> {
    try {
      if (this.#data.staged) resolveStagedAlone(this.#data.staged)
      const definition = await load(this.#data.entry)
      if (this.#data.config) await this.#setUp(definition as ModuleDefinition, this.#data.config)
      else this.#outbox.add({ kind: 'described', schema: jsonSchemaOf(definition.settings) })
    } catch (error) {
      this.#outbox.add({ kind: 'refused', message: explain(error), param: undefined })
    }
  }

  hear(message: ToGuest): void {
    if (message.kind === 'job') detach('a job of a module', this.#do(message.id, message.job))
    else if (message.kind === 'answer') this.#asks.answered(message)
    else if (message.kind === 'abort') this.#calls.abort(message.call, message.cancel, message.reason)
    else if (message.kind === 'over') this.#calls.end(message.call)
    else this.#outbox.add({ kind: 'pong' })
  }

  async #setUp(definition: ModuleDefinition, config: Readonly<Record<string, unknown>>): Promise<void> {
    const parsed = definition.settings.safeParse(config)
    if (!parsed.success) {
      const param = ['config', ...(parsed.error.issues[0]?.path ?? [])].join('.')
      const message = `The configuration of ${this.#data.id} is not valid: ${explain(parsed.error)}`
      this.#outbox.add({ kind: 'refused', message, param })
      return
    }
    const context = guestContext(parsed.data, {
      data: this.#data,
      scope: this.#scope,
      memory: this.#memory,
      tell: (message) => this.#outbox.add(message),
      asks: this.#asks,
      store: this.#store,
      events: this.#events,
    })
    const hooks = checkedHooks(await definition.setup(context))
    this.#module = new GuestModule(this.#data, hooks, this.#calls, this.#asks)
    this.#outbox.add({ kind: 'ready', shape: this.#module.shape })
  }

  async #do(id: number, job: Job): Promise<void> {
    try {
      const { value, known, isOver = false } = await this.#run(job)
      const trace = known?.parts.next(isOver)
      this.#outbox.add({
        kind: 'done',
        id,
        value,
        ...(trace && { trace }),
        faults: this.#module?.takeFaults() ?? [],
      })
    } catch (error) {
      const known = this.#calls.find('of' in job ? job.of : 'call' in job ? job.call.id : '')
      const trace = known?.parts.next(false)
      this.#outbox.add({
        kind: 'done',
        id,
        thrown: known ? known.errors.thrownOf(error) : thrownOf(error),
        refused: this.#module?.isRefusal(error) ?? false,
        ...(trace && { trace }),
        faults: this.#module?.takeFaults() ?? [],
      })
    }
  }

  #run(job: Job): Promise<Ran> {
    switch (job.do) {
      case 'remember':
      case 'leave':
        return this.#leave(job.do)
      case 'event':
        return this.#hear(() => this.#events.hear(job))
      case 'news':
        return this.#hear(() => this.#store.hear(job.news))
      default:
        return this.#module!.run(job)
    }
  }

  /** May be told before the module is set up. */
  async #hear(hear: () => unknown): Promise<Ran> {
    return { value: await hear() }
  }

  async #leave(how: 'remember' | 'leave'): Promise<Ran> {
    if (how === 'leave') await this.#scope.dispose()
    return { value: Object.fromEntries([...this.#memory].filter(([, value]) => isPlain(value))) }
  }

  /** Of what cannot cross, that it cannot. */
  #refuse(message: ToHost): void {
    if (message.kind === 'done') {
      const thrown = thrownOf(new HookFault('what it returned cannot cross from a worker'))
      this.#outbox.add({ kind: 'done', id: message.id, thrown, faults: [] })
    } else if (message.kind === 'ask') {
      this.#asks.refuse(message.id, new HookFault('what it asks with cannot cross from a worker'))
    } else if (message.kind === 'emit') {
      this.#log.error({ event: message.event.name }, 'an event cannot cross from a worker')
    }
  }
}

const plain: readonly unknown[] = [Object.prototype, Array.prototype, Map.prototype, Set.prototype, null]

/** Whether a value is data: an object of a class would arrive as something else, and is made anew. */
const isPlain = (value: unknown): boolean =>
  typeof value !== 'function' &&
  (typeof value !== 'object' || value === null || plain.includes(Object.getPrototypeOf(value)))

// It was for the runtime, which has read it; the plugin gets nothing of our environment.
delete process.env.NODE_COMPILE_CACHE

const guest = new Guest(workerData as GuestData)
const hear = contain('a message to a module', (message: ToGuest) => guest.hear(message))
const hearAll = contain('messages to a module', (messages: readonly ToGuest[]) => {
  for (const message of messages) hear(message)
})
parentPort!.on('message', hearAll)
await guest.start()
// A worker is ended from outside, and then keeps nothing that it compiled.
flushCompileCache()

function noLogs(): HookFault {
  return new HookFault(
    'a log asks the functions of its module about rows that lie on the disk, which cannot wait for a worker: ' +
      'give the module "isolation": "inproc", or use a collection',
  )
}
