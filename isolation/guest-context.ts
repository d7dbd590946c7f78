import { ModelCalls } from '../kernel/contract/calls.ts'
import type { Context } from '../kernel/contract/plugin.ts'
import { HookFault } from '../kernel/hook-fault.ts'
import type { Log } from '../kernel/log.ts'
import { contextOf, type Instance } from '../kernel/plugin/instance.ts'
import type { Memory } from '../kernel/plugin/memory.ts'
import { oneThread, type Relay } from '../kernel/plugin/relay.ts'
import { Egress } from '../network/egress.ts'
import { networkOf } from '../network/network.ts'
import type { GuestStore } from '../storage/shared/guest-store.ts'
import type { Host } from './guest-calls.ts'
import type { GuestEvents } from './guest-events.ts'
import type { GuestMeter } from './guest-meter.ts'
import type { GuestData, SetupData } from './protocol.ts'

/** The parts of a context that a worker lacks, and the reason why nothing stands in for each. */
const absent = {
  call: 'calls in the name of others',
  targets: 'the places that calls may go to',
  completeStreamed: 'streamed answers of its own calls',
  provide: 'services',
  use: 'services',
  find: 'services',
  route: 'routes',
  wire: 'wires',
  protocol: 'protocols',
  personal: 'personal data',
  inspect: 'guards for texts that it brings in',
  whenLive: 'what begins when it answers calls',
  verify: 'checks of the configuration',
  section: 'sections of the configuration',
} as const

export interface GuestParts {
  readonly data: GuestData
  readonly instance: Instance
  readonly memory: Memory
  readonly host: Host
  readonly log: Log
  readonly store: GuestStore
  readonly events: GuestEvents
  readonly meter: GuestMeter
}

/**
 * The context of a module in its worker: the one that it has in the process, made from the worker's ends of its connections. A
 * part that cannot cross throws an error that says so.
 */
export function guestContext<S>(settings: S, given: SetupData, parts: GuestParts): Context<S> {
  const { data, instance, memory, host, log, store, events, meter } = parts
  const { id, manifest } = data
  const models: ModelCalls = {
    complete: (_, __, request, { on, budgetUsd, as = 'gateway', signal }) =>
      host.call(
        'complete',
        { request, as, ...(on && { on: on.id }), ...(budgetUsd !== undefined && { budgetUsd }) },
        { signal },
      ),
    // The context refuses these before they are asked for.
    completeStreamed: () => Promise.reject(cannotCross(id, absent.completeStreamed)),
    call: () => {
      throw cannotCross(id, absent.call)
    },
  }
  const context = contextOf(
    {
      events,
      store: { namespace: () => store.at([]) },
      // The plugin's name is added where the lines are written.
      log: { ...log, child: () => log },
      service: (token) => (token === ModelCalls ? models : undefined),
      current: () => true,
      relay: given.isOnly ? oneThread : severalThreads(id, given.isFirst),
      outbound: { network: networkOf(new Egress(given.egressAllow)), secrets: given.secrets },
    },
    manifest,
    instance,
    settings,
    memory,
    meter,
  )
  for (const [name, what] of Object.entries(absent)) {
    Object.defineProperty(context, name, {
      get() {
        throw cannotCross(id, what)
      },
    })
  }
  return context
}

export const cannotCross = (id: string, what: string): HookFault =>
  new HookFault(`${id} runs in a worker, which does not support ${what}: set "isolation": "inproc"`)

/** The way to other threads of the gateway, which a worker has not. */
function severalThreads(id: string, isFirst: boolean): Relay {
  const refuse = (): never => {
    throw cannotCross(id, 'functions that run in another thread')
  }
  return { isFirst, isOnly: false, bind: refuse, bindAnswer: refuse, bindEach: refuse }
}
