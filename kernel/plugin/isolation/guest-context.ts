import type { Call } from '../../call/call.ts'
import type { Completion, ModelRequest } from '../../call/canonical.ts'
import { repeat } from '../../call/repeat.ts'
import { HookFault } from '../../chain/hook-fault.ts'
import type { Log } from '../../log.ts'
import { Egress } from '../../upstream/egress.ts'
import { outboundOf } from '../../upstream/outbound.ts'
import { grantsOf } from '../permissions.ts'
import type { Context } from '../plugin.ts'
import type { CompleteOptions } from '../plugin-calls.ts'
import type { Scope } from '../scope.ts'
import type { GuestData, ToHost } from './messages.ts'
import { thrownOf } from './thrown.ts'

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

/** What of a context a worker does without, and why nothing stands in for it. */
const absent = {
  store: 'the store',
  on: 'events',
  onAny: 'events',
  emit: 'events',
  provide: 'services',
  use: 'services',
  find: 'services',
  route: 'routes',
  wire: 'wires',
  protocol: 'protocols',
} as const

export const cannotCross = (id: string, what: string): HookFault =>
  new HookFault(`${id} runs in a worker, where it cannot have ${what}: give it "isolation": "inproc"`)

export interface GuestParts {
  readonly data: GuestData
  readonly scope: Scope
  readonly memory: Map<string, unknown>
  readonly tell: (message: ToHost) => void
  readonly complete: (request: ModelRequest, options: CompleteOptions) => Promise<Completion>
}

/** The context of a plugin in its worker: what it can have there is the same, the rest says that it cannot cross. */
export function guestContext<S>(settings: S, parts: GuestParts): Context<S> {
  const { data, scope, memory, tell } = parts
  const { id } = data
  const log = guestLog(tell, {})
  const grants = grantsOf(data.permissions)
  const outbound = { egress: new Egress(data.egressAllow), secrets: data.secrets, models: undefined }
  const context = {
    ...outboundOf(id, grants, scope, outbound),
    complete: (request: ModelRequest, options: CompleteOptions = {}) => parts.complete(request, options),
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
      return (call: Call) => call.trail.slot(key, create)
    },
    every(ms: number, run: () => unknown) {
      scope.own(repeat(ms, run, (error) => log.error({ err: error }, 'a periodic task failed')))
    },
    own: (release: () => unknown) => scope.own(release),
    report: (what: string, detail: string) => tell({ kind: 'report', what, detail }),
  }
  for (const [name, what] of Object.entries(absent)) {
    Object.defineProperty(context, name, {
      get() {
        throw cannotCross(id, what)
      },
    })
  }
  return context as unknown as Context<S>
}

/** A log whose lines are written on the other side. */
function guestLog(tell: GuestParts['tell'], facts: Readonly<Record<string, unknown>>): Log {
  const write =
    (level: (typeof levels)[number]) =>
    (first: unknown, message?: string): void => {
      const said = typeof first === 'string' ? {} : plain(first)
      tell({
        kind: 'log',
        level,
        facts: { ...facts, ...said },
        message: typeof first === 'string' ? first : (message ?? ''),
      })
    }
  return {
    level: 'trace',
    ...Object.fromEntries(levels.map((level) => [level, write(level)])),
    child: (more: Readonly<Record<string, unknown>>) => guestLog(tell, { ...facts, ...more }),
  } as unknown as Log
}

/** Facts of a log line without what cannot cross. */
function plain(facts: unknown): Record<string, unknown> {
  const clean = JSON.stringify(facts, (_, value) => (value instanceof Error ? thrownOf(value) : value))
  return clean === undefined ? {} : (JSON.parse(clean) as Record<string, unknown>)
}
