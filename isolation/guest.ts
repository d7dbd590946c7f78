import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { ModelCalls } from '../kernel/contract/calls.ts'
import type { ModuleDefinition } from '../kernel/contract/plugin.ts'
import { load } from '../kernel/discovery/loader.ts'
import { checkedHooks } from '../kernel/plugin/checked-hooks.ts'
import { contextOf } from '../kernel/plugin/context.ts'
import { Instance } from '../kernel/plugin/instance.ts'
import { Memory } from '../kernel/plugin/memory.ts'
import { parseSettings } from '../kernel/plugin/parse-settings.ts'
import { oneThread } from '../kernel/plugin/relay.ts'
import { isGatewayError } from '../kit/errors.ts'
import { explain } from '../kit/explain.ts'
import { jsonSchemaOf } from '../kit/json/json-schema.ts'
import { onContained, tellContained } from '../kit/work/contain.ts'
import { HookFault } from '../kit/work/hook-fault.ts'
import { Egress } from '../network/egress.ts'
import { networkOf } from '../network/network.ts'
import { resolveStagedAlone } from '../staging/imports.ts'
import { GuestStore } from '../storage/shared/guest-store.ts'
import type { PartAsk } from '../storage/shared/messages.ts'
import { RpcPort } from '../storage/shared/rpc-port.ts'
import { errors } from '../workers/thrown.ts'
import { cannotCross, noLogs, severalThreads, withoutAbsent } from './absent.ts'
import { GuestCalls, type Host } from './guest-calls.ts'
import { GuestEvents } from './guest-events.ts'
import { guestLog } from './guest-log.ts'
import { GuestMeter } from './guest-meter.ts'
import { GuestModule } from './guest-module.ts'
import type { GuestData, GuestMethods, HostMethods, Remembered, SetupData, Shape } from './protocol.ts'

// It was for the runtime, which has read it; the plugin gets nothing of our environment.
delete process.env.NODE_COMPILE_CACHE

/** One module in its worker, and its way to the gateway. */
const data = workerData as GuestData
const instance = new Instance(data.id)
let memory = new Memory()

const toHost = (): Host => host
const log = guestLog(toHost)
onContained((origin, err) => log.error({ err, origin }, 'an uncaught error in a background task'))
const calls = new GuestCalls(toHost)
const events = new GuestEvents(toHost, log)
const meter = new GuestMeter(toHost)
const module = new GuestModule(data, { calls, events, meter, host: toHost })
const store = new GuestStore({
  send: (ask) => host.call('store', ask as PartAsk),
  failed: (err) => log.error({ err }, 'something in the store failed'),
  withoutLogs: noLogs,
})

/** Its other methods are never asked for: the context refuses what leads to them. */
const models: Pick<ModelCalls, 'complete'> = {
  complete: (_, __, request, { on, budgetUsd, as = 'gateway', signal }) =>
    host.call(
      'complete',
      { request, as, ...(on && { on: on.id }), ...(budgetUsd !== undefined && { budgetUsd }) },
      { signal },
    ),
}

const host: Host = new RpcPort<HostMethods, GuestMethods>(
  parentPort!,
  {
    ...module.methods,
    describe: () => begin(async (definition) => jsonSchemaOf(definition.settings)),
    migrate: ({ settings, from }) =>
      begin(async ({ migrate }) => migrate && { settings: await migrate(settings, from) }),
    setUp: (given) => begin((definition) => setUp(definition, given)),
    hear: (event) => events.hear(event),
    news: (news) => store.hear(news),
    remember: remembered,
    async leave() {
      await instance.scope.dispose()
      await store.cross('')
      return remembered()
    },
    abort: ({ call, cancel, reason }) => calls.find(call)?.abort(cancel, reason),
    over: (call) => calls.end(call),
  },
  {
    gathers: true,
    errors,
    uncloneable: () => new HookFault('a value cannot be sent from the worker'),
    failed: (error) => tellContained('a message to a module', error),
  },
)

/** Imports the module for a task. An error crosses with as much of it as may be shown. */
async function begin<T>(run: (definition: ModuleDefinition) => Promise<T>): Promise<T> {
  try {
    if (data.staged) resolveStagedAlone(data.staged)
    return await run((await load(data.entry)) as ModuleDefinition)
  } catch (error) {
    throw isGatewayError(error) ? error : new Error(explain(error))
  } finally {
    // A worker is ended from outside, and then keeps nothing that it compiled.
    flushCompileCache()
  }
}

/** Has the module set itself up with the context that it has in the process, made from this side's ends of its connections. */
async function setUp({ settings, once, setup }: ModuleDefinition, given: SetupData): Promise<Shape> {
  const { id, manifest } = data
  if (once) throw cannotCross(id, 'what exists once for all its configurations')
  const parsed = parseSettings(id, settings, given.config)
  memory = new Memory(given.memory)
  instance.mode = given.mode
  const parts = {
    events,
    store: { namespace: () => store.at([]) },
    // The plugin's name is added where the lines are written.
    log: { ...log, child: () => log },
    service: (token: unknown) => (token === ModelCalls ? models : undefined),
    current: () => true,
    relay: given.isOnly ? oneThread : severalThreads(id, given.isFirst),
    outbound: { network: networkOf(new Egress(given.egressAllow)), secrets: given.secrets },
  }
  const context = contextOf(parts, { manifest, memory, meter }, instance, parsed)
  return module.begin(checkedHooks(await setup(withoutAbsent(id, context), undefined)))
}

function remembered(): Remembered {
  return Object.fromEntries(Object.entries(memory.values).filter(([, value]) => isPlain(value)))
}

const plain: readonly unknown[] = [Object.prototype, Array.prototype, Map.prototype, Set.prototype, null]

/** Whether a value is data: an object of a class would arrive as something else, and is made anew. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function'
  return plain.includes(Object.getPrototypeOf(value))
}
