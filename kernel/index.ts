/** The contract: what plugins are written against. Everything else in this folder is the kernel's own. */

export type {
  Collection,
  Counters,
  Log as RowLog,
  LogQuery,
  Page,
  Sequence,
  Store,
} from '../storage/index.ts'
export { type Accounts, type Key, type KeyOwner, keyStatus, operator, type User } from './accounts.ts'
export { bindingName } from './admission.ts'
export type { Arranged, Placement } from './arrangement.ts'
export { Call, type CallContext, type Principal, type Timeouts } from './call.ts'
export { Cancel } from './cancel.ts'
export type * from './canonical.ts'
export type { Capability, Catalogue, ModelDescription } from './catalogue.ts'
export { type Token, token } from './container.ts'
export { destinationOf } from './destination.ts'
export type { Detection, Place, Span } from './detect.ts'
export { type DryStep, dryRun } from './dry-run.ts'
export {
  badRequest,
  circuitOpen,
  conflict,
  contentBlocked,
  type ErrorCode,
  envelope,
  forbidden,
  GatewayError,
  internalError,
  isGatewayError,
  isUpstreamError,
  notFound,
  providerError,
  rateLimited,
  tooLarge,
  UpstreamError,
  unauthorized,
} from './errors.ts'
export { defineEvent, type EventType, type Occurrence } from './events.ts'
export {
  CircuitClosed,
  CircuitOpened,
  type CircuitReader,
  type CircuitState,
  Circuits,
  KeyQuarantined,
} from './health.ts'
export { type Awaitable, type Hooks, hooksOf, type Next, type Visit } from './hooks.ts'
export { callContextOf } from './http/context.ts'
export { newId } from './id.ts'
export { type KeyExchange, keyExchange, keyProblem, readyTarget } from './key-exchange.ts'
export { KeySelection, type KeySelector } from './key-selection.ts'
export type { Actor } from './lockout.ts'
export type { Log } from './log.ts'
export { ModuleRestored, ModuleTripped } from './module-events.ts'
export { openapi } from './openapi.ts'
export { CallFirstContent, CallSettled, CallStarted, type Outcome } from './outcome.ts'
export { permit } from './permit.ts'
export { type Plan, plans } from './plans.ts'
export { type Context, defineArea, defineModule, defineProvider } from './plugin.ts'
export type { CompleteOptions } from './plugin-calls.ts'
export type { Binding, Plugin, PluginState } from './plugin-record.ts'
export type { Cost, PriceDescription, Prices, Rate, Rates } from './prices.ts'
export type { Probe } from './probe.ts'
export type {
  Credential,
  Protocol,
  Provider,
  StreamDecoder,
  Target,
  UpstreamHead,
  UpstreamRequest,
} from './provider.ts'
export type { QueueStatus, Queues } from './queues.ts'
export { ModuleChanged, type Registry } from './registry.ts'
export type { Reloader, Rescan } from './reloader.ts'
export { type Reply, StreamReply, WholeReply } from './reply.ts'
export type { Route, RouteInput, ServerEvent } from './route.ts'
export { type RouteRule, type RouteTable, routeRule } from './route-table.ts'
export {
  kernelServices,
  ModelAliases,
  type ModelNames,
  type ModelScope,
  ModelScopes,
  type Runtime,
} from './services.ts'
export { type SettingChange, settingChange } from './setting.ts'
export { Chunk } from './stream/chunk.ts'
export type { Filter, Out } from './stream/filter.ts'
export { fetchToken } from './token-endpoint.ts'
export { type Attempt, type Decision, type Exchanged, type Note, type Skip, Trail } from './trail.ts'
export { fromWireUsage, noUsage, type Usage } from './usage.ts'
export { type Condition, type When, whenSchema } from './when.ts'
export type { Asking, StreamEncoder, Wire } from './wire.ts'
export { wishesIn, wishesOf } from './wishes.ts'
