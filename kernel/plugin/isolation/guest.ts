import { parentPort, workerData } from 'node:worker_threads'
import type { Completion, ModelRequest } from '../../call/canonical.ts'
import { checkedHooks } from '../../chain/returned.ts'
import { jsonSchemaOf } from '../../kit/json-schema.ts'
import { load } from '../loader.ts'
import { explain } from '../manifest.ts'
import type { ModuleDefinition } from '../plugin.ts'
import type { CompleteOptions } from '../plugin-calls.ts'
import { Scope } from '../scope.ts'
import { resolveStagedAlone } from '../staging/imports.ts'
import { GuestCalls } from './guest-calls.ts'
import { guestContext } from './guest-context.ts'
import { GuestModule } from './guest-module.ts'
import type { GuestData, Job, ToGuest, ToHost } from './messages.ts'
import { errorOf, thrownOf } from './thrown.ts'

/** The other side of a worker host: one module, and the messages that it is run by. */
class Guest {
  readonly #data: GuestData
  readonly #scope: Scope
  readonly #calls = new GuestCalls()
  readonly #memory: Map<string, unknown>
  readonly #asked = new Map<number, PromiseWithResolvers<Completion>>()
  #count = 0
  #module: GuestModule | undefined
  #outbox: ToHost[] = []

  constructor(data: GuestData) {
    this.#data = data
    this.#scope = new Scope(data.id)
    this.#memory = new Map(Object.entries(data.memory))
  }

  async start(): Promise<void> {
    try {
      if (this.#data.staged) resolveStagedAlone(this.#data.staged)
      const definition = await load(this.#data.entry)
      if (this.#data.config) await this.#setUp(definition as ModuleDefinition, this.#data.config)
      else this.#tell({ kind: 'described', schema: jsonSchemaOf(definition.settings) })
    } catch (error) {
      this.#tell({ kind: 'refused', message: explain(error), param: undefined })
    }
  }

  hear(message: ToGuest): void {
    if (message.kind === 'job') void this.#do(message.id, message.job)
    else if (message.kind === 'drop') this.#module?.drop(message.pipe)
    else if (message.kind === 'over') this.#calls.end(message.call)
    else if (message.kind === 'ping') this.#tell({ kind: 'pong' })
    else this.#answered(message)
  }

  async #setUp(definition: ModuleDefinition, config: Readonly<Record<string, unknown>>): Promise<void> {
    const parsed = definition.settings.safeParse(config)
    if (!parsed.success) {
      const param = ['config', ...(parsed.error.issues[0]?.path ?? [])].join('.')
      const message = `The configuration of ${this.#data.id} is not valid: ${explain(parsed.error)}`
      this.#tell({ kind: 'refused', message, param })
      return
    }
    const context = guestContext(parsed.data, {
      data: this.#data,
      scope: this.#scope,
      memory: this.#memory,
      tell: (message) => this.#tell(message),
      complete: (request, options) => this.#complete(request, options),
    })
    const hooks = checkedHooks(await definition.setup(context))
    this.#module = new GuestModule(this.#data, hooks, this.#calls)
    this.#tell({ kind: 'ready', shape: this.#module.shape })
  }

  async #do(id: number, job: Job): Promise<void> {
    const { faults } = this.#module!
    try {
      const { value, call } =
        job.do === 'remember' || job.do === 'leave'
          ? { value: await this.#leave(job.do) }
          : await this.#module!.run(job)
      const trail = call && this.#calls.partOf(call)
      this.#tell({ kind: 'done', id, value, ...(trail && { trail }), faults: faults.splice(0) })
    } catch (error) {
      const call = 'call' in job ? this.#calls.find(job.call.id) : undefined
      const trail = call && this.#calls.partOf(call)
      this.#tell({
        kind: 'done',
        id,
        thrown: thrownOf(error),
        ...(trail && { trail }),
        faults: faults.splice(0),
      })
    }
  }

  async #leave(how: 'remember' | 'leave'): Promise<Record<string, unknown>> {
    if (how === 'leave') await this.#scope.dispose()
    return Object.fromEntries(this.#memory)
  }

  #complete(request: ModelRequest, { on, budgetUsd }: CompleteOptions): Promise<Completion> {
    const asked = Promise.withResolvers<Completion>()
    this.#count += 1
    this.#asked.set(this.#count, asked)
    this.#tell({ kind: 'complete', id: this.#count, request, on: on?.id, budgetUsd })
    return asked.promise
  }

  #answered({ id, value, thrown }: Extract<ToGuest, { kind: 'answer' }>): void {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    if (thrown) asked?.reject(errorOf(thrown))
    else asked?.resolve(value!)
  }

  #tell(message: ToHost): void {
    this.#outbox.push(message)
    if (this.#outbox.length === 1) setImmediate(() => this.#flush())
  }

  /** Posts what gathered; of what cannot cross, that it cannot. */
  #flush(): void {
    const messages = this.#outbox
    this.#outbox = []
    try {
      parentPort!.postMessage(messages)
    } catch {
      for (const message of messages) {
        try {
          parentPort!.postMessage([message])
        } catch {
          if (message.kind !== 'done') continue
          const thrown = {
            name: 'HookFault',
            message: 'what it returned cannot cross from a worker',
            fault: true,
          }
          parentPort!.postMessage([{ kind: 'done', id: message.id, thrown, faults: [] } satisfies ToHost])
        }
      }
    }
  }
}

const guest = new Guest(workerData as GuestData)
parentPort!.on('message', (messages: readonly ToGuest[]) => {
  for (const message of messages) guest.hear(message)
})
await guest.start()
