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
export { Call, type CallContext, type Principal, type Timeouts } from './call/call.ts'
export { Cancel } from './call/cancel.ts'
export type * from './call/canonical.ts'
export { CallFirstContent, CallSettled, CallStarted, type Outcome } from './call/outcome.ts'
export { type Reply, StreamReply, WholeReply } from './call/reply.ts'
export { type Attempt, type Decision, type Exchanged, type Note, type Skip, Trail } from './call/trail.ts'
export { fromWireUsage, noUsage, type Usage } from './call/usage.ts'
export type { Asking, EventShape, StreamEncoder, Wire } from './call/wire.ts'
export { wishesIn, wishesOf } from './call/wishes.ts'
export type { Capability, Catalogue, ModelDescription } from './catalogue.ts'
export type { Detection, Place, Span } from './chain/detect.ts'
export { type DryStep, dryRun } from './chain/dry-run.ts'
export { type Awaitable, type Hooks, hooksOf, type Next, type Visit } from './chain/hooks.ts'
export { ModuleRestored, ModuleTripped } from './chain/module-events.ts'
export { type Condition, type When, whenSchema } from './chain/when.ts'
export { type Token, token } from './container.ts'
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
  unavailable,
} from './errors.ts'
export { defineEvent, type EventType, type Occurrence } from './events.ts'
export { callContextOf } from './http/context.ts'
export { newId } from './id.ts'
export type { Log } from './log.ts'
export { openapi } from './openapi.ts'
export { type Plan, plans } from './plans.ts'
export { bindingName } from './plugin/admission.ts'
export type { Arranged, Placement } from './plugin/arrangement.ts'
export type { Actor } from './plugin/lockout.ts'
export { ModuleChanged } from './plugin/module-changed.ts'
export { permit } from './plugin/permit.ts'
export { type Context, defineArea, defineModule, defineProvider } from './plugin/plugin.ts'
export type { CompleteOptions } from './plugin/plugin-calls.ts'
export type { Binding, Plugin, PluginState } from './plugin/plugin-record.ts'
export type { Registry } from './plugin/registry.ts'
export type { Reloader, Rescan } from './plugin/reloader.ts'
export { type SettingChange, settingChange } from './plugin/setting.ts'
export type { Cost, PriceDescription, Prices, Rate, Rates } from './prices.ts'
export type { QueueStatus, Queues } from './queues.ts'
export type { Route, RouteInput, ServerEvent } from './route.ts'
export {
  kernelServices,
  ModelAliases,
  type ModelNames,
  type ModelScope,
  ModelScopes,
  type Runtime,
} from './services.ts'
export type { StoreState } from './store-state.ts'
export { Chunk } from './stream/chunk.ts'
export type { Filter, Out } from './stream/filter.ts'
export { ThreadEnded } from './threads/thread-ended.ts'
export { destinationOf } from './upstream/destination.ts'
export {
  CircuitClosed,
  CircuitOpened,
  type CircuitReader,
  type CircuitState,
  Circuits,
  KeyQuarantined,
} from './upstream/health.ts'
export { type KeyExchange, keyExchange, keyProblem, readyTarget } from './upstream/key-exchange.ts'
export { KeySelection, type KeySelector } from './upstream/key-selection.ts'
export type { Probe } from './upstream/probe.ts'
export type {
  Credential,
  Protocol,
  Provider,
  StreamDecoder,
  Target,
  TokenQuestion,
  UpstreamHead,
  UpstreamRequest,
} from './upstream/provider.ts'
export { type RouteRule, type RouteTable, routeRule } from './upstream/route-table.ts'
export { fetchToken } from './upstream/token-endpoint.ts'
export type { ProviderCount } from './upstream/token-inquiry.ts'
