/** The contract: what plugins are written against. Everything else in this folder is the kernel's own. */

export { type Config, ConfigError } from '../config/config.ts'
export type { Environment } from '../config/references.ts'
export type {
  Bodies,
  BodiesOptions,
  Body,
  BodyFacts,
  Collection,
  Counters,
  ListOptions,
  Log as RowLog,
  LogQuery,
  Page,
  PageOptions,
  Sequence,
  Store,
  Transaction,
} from '../storage/index.ts'
export {
  type Accounts,
  type Key,
  type KeyOwner,
  keyStatus,
  noUser,
  operator,
  type User,
} from './auth/accounts.ts'
export { withTenant } from './auth/tenants.ts'
export { beginAttempt, newAttempt } from './call/attempt.ts'
export { Call, type CallContext, type CallOrigin, type Principal, type Timeouts } from './call/call.ts'
export { Cancel } from './call/cancel.ts'
export type * from './call/canonical.ts'
export {
  type FoundSpan,
  findingActions,
  findingTypes,
  type SafetyFinding,
  severities,
  type TraceFinding,
} from './call/findings.ts'
export { type InnerCall, runInnerCall } from './call/inner-exchange.ts'
export { CallFirstContent, CallSettled, CallStarted, type Outcome } from './call/outcome.ts'
export { type Reply, StreamReply, WholeReply } from './call/reply.ts'
export {
  type Attempt,
  type ChainFacts,
  type Decision,
  type Note,
  type Rewrite,
  type Skip,
  Trace,
} from './call/trace.ts'
export { believedUsage, fromWireUsage, mostTokens, noUsage, type Usage } from './call/usage.ts'
export type { Address, Asking, EventShape, StreamEncoder, Wire } from './call/wire.ts'
export type { BroughtText } from './chain/brought.ts'
export {
  type Awaitable,
  type Hooks,
  hooksOf,
  type Next,
  type Show,
  type Stage,
  type Visit,
} from './chain/hooks.ts'
export type { CircuitState } from './chain/module-circuit.ts'
export { ModuleChanged, ModuleRestored, ModuleTripped } from './chain/module-events.ts'
export { type Condition, type When, whenSchema } from './chain/when.ts'
export { Cohort } from './cohort.ts'
export { guardedToken, type Token, token } from './container.ts'
export { AlertPulse, type PulseSettings } from './contract/alerts.ts'
export {
  Anomalies,
  type AnomalyDimension,
  type AnomalyKind,
  type AnomalySeverity,
  anomalyKinds,
  anomalySeverities,
  type FoundAnomaly,
} from './contract/anomalies.ts'
export type { AnswerCache, CachedAnswer, CachedWhich, CacheFigures } from './contract/answer-caches.ts'
export { AnswerCaches } from './contract/answer-caches.ts'
export {
  type Answer,
  type AnswerForm,
  type Answers,
  answer,
  answers,
  type FileAnswer,
  type HtmlPage,
  type JsonOrEvents,
  jsonOrEvents,
} from './contract/answers.ts'
export { type BodyForm, type BodyOptions, rawBody, streamedBody, type Upload } from './contract/bodies.ts'
export {
  type CallCredential,
  type CallOptions,
  type CallSource,
  type CompleteOptions,
  callSources,
  type MadeCall,
  ModelCalls,
} from './contract/calls.ts'
export {
  type Budget,
  type Claim,
  Counting,
  type Held,
  type Left,
  type Limit,
  type Refusal,
  type SharedWindows,
  type WindowOptions,
  type WindowSum,
  type Windows,
} from './contract/counting.ts'
export { type Arrangement, type AttemptHooks, Delivery, type OwnKey } from './contract/delivery.ts'
export { type Fault, Faults } from './contract/faults.ts'
export { Feedback, type FeedbackRecord } from './contract/feedback.ts'
export { type FigureDimension, type FigureLine, type FigureSums, Figures } from './contract/figures.ts'
export {
  type GuardrailHit,
  type GuardrailRuleSet,
  GuardrailRules,
  type GuardrailSpan,
  type OwnGuardrailRules,
} from './contract/guardrails.ts'
export {
  type AddJob,
  type CronOptions,
  type Job,
  type JobDefinition,
  type JobError,
  type JobProgress,
  type JobQueue,
  type JobRecord,
  type JobStatus,
  Jobs,
  type ScheduledTime,
} from './contract/jobs.ts'
export {
  Ledger,
  type LedgerActor,
  type LedgerDraft,
  type LedgerEntry,
  type LedgerHead,
  type LedgerQuery,
  type LedgerResource,
} from './contract/ledger.ts'
export {
  type Amounts,
  type Capability,
  type Cost,
  capabilities,
  type Estimator,
  ModelCatalogue,
  type ModelDescription,
  type PriceDescription,
  type PriceItem,
  Pricing,
  type Rate,
  type Rates,
  type TokenCount,
  TokenCounting,
} from './contract/models.ts'
export type {
  Erasure,
  Personal,
  PersonalData,
  PersonalSums,
  Subject,
} from './contract/personal-data.ts'
export {
  type Plan,
  Plans,
  planBudget,
  type Quota,
  type Tier,
  tiers,
  type UpgradePrompt,
} from './contract/plans.ts'
export {
  type Context,
  defineArea,
  defineModule,
  defineProvider,
  type OnceContext,
} from './contract/plugin.ts'
export {
  type OwnPolicies,
  type PolicyCheck,
  type PolicyHit,
  type PolicySpan,
  TrustPolicies,
} from './contract/policies.ts'
export type {
  Credential,
  Protocol,
  Provider,
  StreamDecoder,
  Target,
  TokenQuestion,
  UpstreamHead,
  UpstreamRequest,
} from './contract/provider.ts'
export { hintOf, type ProviderSpec, providerSpec } from './contract/provider.ts'
export { type Age, type RecordClass, Retention, RetentionDue } from './contract/retention.ts'
export { type Candidate, Routing, type TargetHooks } from './contract/routing.ts'
export { SealedBodies, Sealing, type Signature, Signing, type SigningKey } from './contract/sealing.ts'
export type { Actor, Section } from './contract/section.ts'
export { type Session, Sessions } from './contract/sessions.ts'
export {
  type Cap,
  type CapAction,
  type CapScope,
  type CapStanding,
  capActions,
  capScopes,
  ModelLadder,
  Spend,
  type SpendAnswer,
  type SpendClaim,
  SpendShare,
} from './contract/spend.ts'
export { Tenants } from './contract/tenants.ts'
export {
  CallTraced,
  type TraceBodies,
  type TracedAttempt,
  type TraceError,
  type TracePlace,
  type TraceQuery,
  TraceReader,
  type TraceSummary,
} from './contract/traces.ts'
export { UsageRecords, type UsedSums } from './contract/usage-records.ts'
export { type WebhookDelivery, type WebhookReceiver, WebhookSender } from './contract/webhooks.ts'
export { type Countdown, Countdowns } from './countdown.ts'
export type { Detection, Span, TextLocation } from './detect/detect.ts'
export type { UpstreamFault } from './errors.ts'
export {
  badRequest,
  circuitOpen,
  conflict,
  contentBlocked,
  draining,
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
export { ManagementAudited } from './events/audit.ts'
export { defineEvent, type EventType, type Occurrence } from './events.ts'
export { HookFault } from './hook-fault.ts'
export { sessionCookie } from './http/browser.ts'
export { callContextOf } from './http/context.ts'
export { newId, secretToken } from './id.ts'
export type { Log } from './log.ts'
export type { Arranged, Placement } from './plugin/arrangement.ts'
export type { Generation } from './plugin/generation.ts'
export type { ConfigChange, JournalEntry } from './plugin/journal.ts'
export type { Binding, Plugin, PluginState } from './plugin/plugin-record.ts'
export { bindingName } from './plugin/records.ts'
export type { Registry } from './plugin/registry.ts'
export type { Reloader, Rescan } from './plugin/reloader.ts'
export { type SettingChange, settingChange } from './plugin/setting.ts'
export type { QueueStatus, Queues } from './queues.ts'
export type { Refusals } from './refusals.ts'
export type { LiveRoute, Route, RouteInput, ServerEvent } from './route.ts'
export { type Secrets, SecretsError } from './secrets/secrets.ts'
export { kernelServices, type Runtime } from './services.ts'
export type { StoreState } from './store-state.ts'
export { Chunk } from './stream/chunk.ts'
export type { Filter, Out } from './stream/filter.ts'
export { ThreadEnded } from './threads/threads.ts'
