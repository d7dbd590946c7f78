import type { DependencyContainer } from 'tsyringe'
import { contain } from '../../kit/work/contain.ts'
import { repeat } from '../../kit/work/repeat.ts'
import type { Store } from '../../storage/index.ts'
import type { Call } from '../call/call.ts'
import { ModelCalls } from '../contract/calls.ts'
import type { Context } from '../contract/context.ts'
import { Routing } from '../contract/routing.ts'
import type { Actor, Section } from '../contract/section.ts'
import type { EventBus, EventType, Occurrence } from '../events.ts'
import type { Log } from '../log.ts'
import { type Outbound, outboundOf } from '../permissions/outbound.ts'
import { denied, grantsOf } from '../permissions/permissions.ts'
import type { LiveRoute } from '../route.ts'
import { permissionOf, type Token } from '../token.ts'
import type { Instance } from './instance.ts'
import { checkRoute, checkWire } from './offered.ts'
import { type Plugin, storeName } from './plugin-record.ts'
import { isOfCall, oneThread, type Relay } from './relay.ts'

/** The parts that contexts are made from. */
export interface ContextParts {
  /** None in a worker. */
  readonly container?: DependencyContainer
  readonly events: EventBus
  readonly store: Pick<Store, 'namespace'>
  readonly log: Log
  /** How long an import or a setup may take, in milliseconds. */
  readonly setupMs?: number
  /** A service that some live plugin offers. */
  readonly service: (token: Token<unknown>) => unknown
  /** Whether this instance is the plugin's latest, and not one that only lasts until its calls have ended. */
  readonly current: (instance: Instance) => boolean
  /** Whether the gateway's own modules, too, are handed what they cannot write into: to develop and to test them. */
  readonly freezeAll?: boolean
  /** Whether the plugin is set up only to be asked about personal data. */
  readonly isDormant?: boolean
  /** Sets what a section has under a key. */
  readonly configure?: (section: string, key: string, value: unknown, actor?: Actor) => Promise<void>
  /** The relay to the first thread; by default there is no other thread. */
  readonly relay?: Relay
  readonly outbound: Outbound
}

/** The context of one instance of a plugin, whose memory and meter outlive it. */
export function contextOf<S>(
  parts: ContextParts,
  { manifest, memory, meter }: Pick<Plugin, 'manifest' | 'memory' | 'meter'>,
  instance: Instance,
  settings: S,
): Context<S> {
  const { id, scope } = instance
  const grants = grantsOf(manifest!.permissions)
  const demand = (permission: Parameters<typeof grants.has>[0], does: string): void => {
    if (!grants.has(permission)) throw denied(id, does, permission)
  }
  let store: Store | undefined
  const log = parts.log.child({ plugin: id })
  const { relay = oneThread, isDormant = false } = parts
  /** Services that the plugin may use: hooks ask for some with each call. */
  const allowed = new Set<symbol>()
  const allow = (token: symbol): void => {
    const lacks = permissionOf(token)
    if (lacks !== undefined && !grants.services.has(lacks)) throw denied(id, 'uses a service', lacks)
    allowed.add(token)
  }
  const find = <T>(token: Token<T>): T | undefined => {
    if (!allowed.has(token)) allow(token)
    const offered = parts.service(token) ?? instance.services.get(token)
    if (offered !== undefined) return offered as T
    return parts.container?.isRegistered(token, true) ? parts.container.resolve<T>(token) : undefined
  }
  const held = <C>({ call, release }: { readonly call: C; readonly release: () => void }): C => {
    scope.own(release)
    return call
  }
  /** While two instances exist, only one of them gets an event: if both did, a call would be counted twice. */
  const whileCurrent =
    <D, O>(listener: (data: D, occurrence: O) => unknown) =>
    (data: D, occurrence: O) =>
      parts.current(instance) ? listener(data, occurrence) : undefined
  const context: Omit<Context<S>, 'store'> = {
    ...outboundOf(
      id,
      grants,
      scope,
      parts.outbound,
      () => parts.service(ModelCalls) as ModelCalls | undefined,
    ),
    id,
    settings,
    mode: instance.mode,
    isDormant,
    log,
    signal: scope.signal,
    memory: (name, create) => memory.value(name, create),
    slot<T>(create: () => T) {
      const key = Symbol(id)
      return (call: Call) => call.trace.slot(key, create)
    },
    every(ms, run, { inEachThread = false } = {}) {
      if (isDormant || (!relay.isFirst && !inEachThread)) return
      const stop = repeat(ms, run, (error) => log.error({ err: error }, 'a periodic task failed'))
      scope.own(stop)
    },
    inFirstThread: (name, run) => held(relay.bind(`${id} ${name}`, run)),
    askFirstThread: (name, answer) => held(relay.bindAnswer(`${id} ${name}`, answer)),
    inEachThread: (name, run) => held(relay.bindEach(`${id} ${name}`, run)),
    on<T>(type: EventType<T>, listener: (data: T, occurrence: Occurrence<T>) => unknown) {
      if (isDormant || (!relay.isFirst && !isOfCall(type))) return
      scope.own(parts.events.on(type, whileCurrent(listener)))
    },
    onAny(listener) {
      if (isDormant || !relay.isFirst) return
      scope.own(parts.events.onAny(whileCurrent(listener)))
    },
    event: (type) => scope.own(parts.events.declare(type, id)),
    emit: (type, data, options) => parts.events.emit(type, data, { ...options, by: id }),
    provide(token, value) {
      instance.services.set(token, value)
    },
    find,
    use<T>(token: Token<T>): T {
      const found = find(token)
      if (found === undefined)
        throw new Error(`${id} needs the service ${token.description}, which no plugin offers`)
      return found
    },
    whenLive(begin) {
      if (isDormant) return
      if (instance.begins) instance.begins.push(contain(`what begins with ${id}`, () => scope.tryWork(begin)))
      else begin()
    },
    own: (release) => scope.own(release),
    async targets(call) {
      demand('targets', 'asks where a call would go')
      return (parts.service(Routing) as Routing | undefined)?.targets(call, id) ?? []
    },
    async inspect(call, texts) {
      if (!grants.writes) throw denied(id, 'brings texts into a call', 'body:write')
      return call.trace.inspectBrought(call, texts, id)
    },
    report(kind, detail) {
      if (kind === 'lacks') instance.lacks = detail
      meter.event(kind, detail)
    },
    route(route) {
      demand('routes', 'adds a route')
      const live = { ...route, plugin: id } as unknown as LiveRoute
      checkRoute(live)
      instance.routes.push(live)
    },
    wire(wire) {
      demand('routes', 'adds a wire')
      checkWire(wire)
      instance.wires.push(wire)
    },
    protocol(protocol) {
      demand('providers', 'adds a protocol')
      instance.protocols.push(protocol)
    },
    personal: (data) => void instance.personal.push(data),
    section(section) {
      instance.sections.push(section as Section)
      return (key, value, actor) => parts.configure!(section.name, key, value, actor)
    },
    verify: (check) => void instance.checks.push(check),
  }
  // Not among the context's own keys: to copy it does not mean to use the store.
  return Object.defineProperty(context, 'store', {
    get() {
      demand('store', 'uses the store')
      store ??= parts.store.namespace(storeName(id))
      return store
    },
  }) as Context<S>
}
