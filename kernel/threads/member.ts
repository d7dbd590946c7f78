import path from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import { PortCalls } from '../../storage/shared/port-calls.ts'
import type { SharedEngine } from '../../storage/shared.ts'
import { contain, detach } from '../contain.ts'
import { inTime } from '../plugin/in-time.ts'
import { explain } from '../plugin/manifest.ts'
import type { ThreadData, ToFirst, ToThread } from './messages.ts'
import { limitsOfCalls } from './young-generation.ts'

type Told = Exclude<ToFirst, { readonly ready: true } | { readonly failed: string }>

/** A further thread, as the first one sees it. */
export class Member {
  readonly number: number
  /** Resolves when it answers requests; rejects when it cannot. */
  readonly ready: Promise<void>
  /** Resolves when it has ended, with the reason. */
  readonly ended: Promise<string>
  readonly #worker: Worker
  readonly #calls: PortCalls

  /** `heard` answers what it tells and asks. */
  constructor(
    given: Omit<ThreadData, 'store' | 'control'>,
    shared: SharedEngine,
    heard: (message: Told) => unknown,
  ) {
    const { number } = given
    const [store, control] = [new MessageChannel(), new MessageChannel()]
    const ready = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<string>()
    this.number = number
    this.ready = ready.promise
    this.ended = ended.promise
    this.#calls = new PortCalls(control.port1, (told) => {
      const message = told as ToFirst
      if ('ready' in message) return ready.resolve()
      return 'failed' in message ? ready.reject(new Error(message.failed)) : heard(message)
    })
    detach('the store of a thread', shared.serve(store.port1))
    const data: ThreadData = { ...given, store: store.port2, control: control.port2 }
    this.#worker = new Worker(new URL(`./thread${path.extname(import.meta.url)}`, import.meta.url), {
      workerData: data,
      transferList: [store.port2, control.port2],
      resourceLimits: limitsOfCalls(),
    })
    let problem = 'it ended'
    const failed = contain('the failure of a thread', (error: unknown) => {
      problem = explain(error)
    })
    this.#worker.on('error', failed)
    this.#worker.on('exit', () => {
      ended.resolve(problem)
      ready.reject(new Error(`Thread ${number} could not start: ${problem}`))
    })
  }

  /** Rejects when it does not answer in time, or has ended. */
  ask(message: ToThread, ms: number): Promise<unknown> {
    return inTime(this.#calls.call(message), ms, 'its answer')
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }
}
