import type { GuestStore } from '../../storage/shared/guest-store.ts'
import type { Call } from '../call/call.ts'
import type { Completion, ModelRequest } from '../call/canonical.ts'
import { repeat } from '../call/repeat.ts'
import type { CompleteOptions, Context } from '../contract/plugin.ts'
import { HookFault } from '../hook-fault.ts'
import { Egress } from '../permissions/egress.ts'
import { outboundOf } from '../permissions/outbound.ts'
import { denied, grantsOf } from '../permissions/permissions.ts'
import type { Scope } from '../plugin/scope.ts'
import type { GuestAsks } from './guest-asks.ts'
import type { GuestEvents } from './guest-events.ts'
import { guestLog } from './guest-log.ts'
import type { GuestData, ToHost } from './messages.ts'

/** What of a context a worker does without, and why nothing stands in for it. */
const absent = {
  provide: 'services',
  use: 'services',
  find: 'services',
  route: 'routes',
  wire: 'wires',
  protocol: 'protocols',
} as const

const firstThread = 'what runs in the first of several threads'

const cannotCross = (id: string, what: string): HookFault =>
  new HookFault(`${id} runs in a worker, where it cannot have ${what}: give it "isolation": "inproc"`)

export interface GuestParts {
  readonly data: GuestData
  readonly scope: Scope
  readonly memory: Map<string, unknown>
  readonly tell: (message: ToHost) => void
  readonly asks: GuestAsks
  readonly store: GuestStore
  readonly events: GuestEvents
}

/** The context of a plugin in its worker: what it can have there is the same, the rest says that it cannot cross. */
export function guestContext<S>(settings: S, parts: GuestParts): Context<S> {
  const { data, scope, memory, tell, asks, events } = parts
  const { id } = data
  const log = guestLog(tell)
  const grants = grantsOf(data.permissions)
  const outbound = { egress: new Egress(data.egressAllow), secrets: data.secrets, models: undefined }
  const context = {
    ...outboundOf(id, grants, scope, outbound),
    async complete(
      request: ModelRequest,
      { on, budgetUsd, signal }: CompleteOptions = {},
    ): Promise<Completion> {
      return (await asks.ask({ ask: 'complete', request, on: on?.id, budgetUsd }, { signal })) as Completion
    },
    id,
    settings,
    log,
    signal: scope.signal,
    memory<T>(name: string, create: () => T): T {
      if (!memory.has(name)) memory.set(name, create())
      return memory.get(name) as T
    },
    slot<T>(create: () => T) {
      const key = Symbol(id)
      return (call: Call) => call.trace.slot(key, create)
    },
    every(ms: number, run: () => unknown, { inEachThread = false } = {}) {
      if (!data.isFirst && !inEachThread) return
      scope.own(repeat(ms, run, (error) => log.error({ err: error }, 'a periodic task failed')))
    },
    inFirstThread(_: string, run: (given: unknown) => void) {
      if (!data.isOnly) throw cannotCross(id, firstThread)
      return run
    },
    askFirstThread(_: string, answer: (given: unknown, from: number) => unknown) {
      if (!data.isOnly) throw cannotCross(id, firstThread)
      return (given: unknown) => answer(given, 1)
    },
    own: (release: () => unknown) => scope.own(release),
    on: events.on.bind(events),
    onAny: events.onAny.bind(events),
    emit: events.emit.bind(events),
    report: (what: string, detail: string) => tell({ kind: 'report', what, detail }),
  }
  Object.defineProperty(context, 'store', {
    get() {
      if (!grants.has('store')) throw denied(id, 'uses the store', 'store')
      return parts.store.at([])
    },
  })
  for (const [name, what] of Object.entries(absent)) {
    Object.defineProperty(context, name, {
      get() {
        throw cannotCross(id, what)
      },
    })
  }
  return context as unknown as Context<S>
}
