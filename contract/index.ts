/**
 * The contract: what plugins are written against. The files beside this one are what plugins and areas offer each other, and
 * the full types of what they define: types, tokens, and functions that give a definition its type. Everything else is the kernel's.
 */

export { type Accounts, noUser } from '../accounts/accounts.ts'
export type { Authentication } from '../accounts/authentication.ts'
export { keyStatus } from '../accounts/key.ts'
export { operator } from '../accounts/keys.ts'
export type { Key, KeyOwner, User } from '../accounts/records.ts'
export type { Config } from '../config/config.ts'
export { ConfigError } from '../config/config-error.ts'
export type { Environment } from '../config/references.ts'
export { type SettingChange, type StoredSetting, settingChange } from '../config/setting.ts'
export type { Attempt } from '../kernel/call/attempt.ts'
export {
  Call,
  type CallContext,
  type CallOrigin,
  type Principal,
  type Timeouts,
} from '../kernel/call/call.ts'
export { Exchange, type Ground } from '../kernel/call/exchange.ts'
export {
  type FoundSpan,
  findingActions,
  findingTypes,
  type SafetyFinding,
  severities,
  type TraceFinding,
} from '../kernel/call/findings.ts'
export { CallFirstContent, CallSettled, CallStarted, type Outcome } from '../kernel/call/outcome.ts'
export { type Reply, StreamReply, WholeReply } from '../kernel/call/reply.ts'
export type { SettlementParts } from '../kernel/call/settle.ts'
export { type ChainFacts, Trace } from '../kernel/call/trace.ts'
export type { Decision, Note, Rewrite, Skip } from '../kernel/call/trace-records.ts'
export type { Address, Asking, EventShape, StreamEncoder, Wire } from '../kernel/call/wire.ts'
export type { BroughtText } from '../kernel/chain/brought.ts'
export { hooksOf, type Next, type Show, type Stage, type Visit } from '../kernel/chain/hooks.ts'
export type { CircuitState } from '../kernel/chain/module-circuit.ts'
export type {
  Answer,
  AnswerForm,
  Answers,
  JsonOrEvents,
  OpenResponse,
  SentForm,
} from '../kernel/contract/answers.ts'
export type { BodyForm, OpenRequest } from '../kernel/contract/bodies.ts'
export {
  type CallCredential,
  type CallOptions,
  type CallSource,
  type CompleteOptions,
  callSources,
  type MadeCall,
  ModelCalls,
} from '../kernel/contract/calls.ts'
export type { PostAnswer, PostOptions } from '../kernel/contract/context.ts'
export type { AttemptHooks } from '../kernel/contract/delivery.ts'
export type {
  Amounts,
  Cost,
  Unreported,
} from '../kernel/contract/models.ts'
export type {
  Erasure,
  Personal,
  PersonalData,
  PersonalSums,
  Subject,
} from '../kernel/contract/personal-data.ts'
export type { TargetHooks } from '../kernel/contract/routing.ts'
export { type Secrets, SecretsError } from '../kernel/contract/secrets.ts'
export type { Actor, Section } from '../kernel/contract/section.ts'
export { type Session, Sessions } from '../kernel/contract/sessions.ts'
export { Tenants, withTenant } from '../kernel/contract/tenants.ts'
export type { Detection, Span } from '../kernel/detect/detect.ts'
export { ManagementAudited } from '../kernel/events/audit.ts'
export { defineEvent, type EventType, type Occurrence } from '../kernel/events.ts'
export { sessionCookie } from '../kernel/http/browser.ts'
export { callContextOf } from '../kernel/http/context.ts'
export type { Log } from '../kernel/log.ts'
export type { Arranged, Placement } from '../kernel/plugin/arrangement.ts'
export type { Generation } from '../kernel/plugin/generation.ts'
export type { ConfigChange, JournalEntry } from '../kernel/plugin/journal.ts'
export { ModuleChanged, ModuleRestored, ModuleTripped } from '../kernel/plugin/module-events.ts'
export type { Binding, Plugin, PluginState } from '../kernel/plugin/plugin-record.ts'
export { bindingName } from '../kernel/plugin/plugin-record.ts'
export type { JointChange, Registry } from '../kernel/plugin/registry.ts'
export type { Reloader, Rescan } from '../kernel/plugin/reloader.ts'
export type { QueueStatus, Queues } from '../kernel/queues.ts'
export type { Refusals } from '../kernel/refusals.ts'
export type { LiveRoute, Route, RouteInput, ServerEvent } from '../kernel/route.ts'
export { kernelServices, type PluginData, type Runtime, type StoreState } from '../kernel/services.ts'
export type { Filter, Out } from '../kernel/stream/filter.ts'
export { ThreadEnded } from '../kernel/threads/threads.ts'
export { guardedToken, type Token, token } from '../kernel/token.ts'
export { type Condition, type When, whenSchema } from '../kit/calls/when.ts'
export { Chunk } from '../kit/canonical/chunk.ts'
export type * from '../kit/canonical/forms.ts'
export type { TextLocation } from '../kit/canonical/text-location.ts'
export { believedUsage, fromWireUsage, mostTokens, noUsage, type Usage } from '../kit/canonical/usage.ts'
export type { UpstreamFault } from '../kit/errors.ts'
export {
  badRequest,
  ClientGone,
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
} from '../kit/errors.ts'
export { newId, secretToken } from '../kit/id.ts'
export { Cancel } from '../kit/work/cancel.ts'
export { Cohort } from '../kit/work/cohort.ts'
export type { Awaitable } from '../kit/work/continue-with.ts'
export { type Countdown, Countdowns } from '../kit/work/countdown.ts'
export { HookFault } from '../kit/work/hook-fault.ts'
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
export { AlertPulse, type PulseSettings } from './alerts.ts'
export {
  Anomalies,
  type AnomalyDimension,
  type AnomalyKind,
  type AnomalySeverity,
  anomalyKinds,
  anomalySeverities,
  type FoundAnomaly,
} from './anomalies.ts'
export type {
  AnswerCache,
  CachedAnswer,
  CachedWhich,
  CacheFigures,
  CacheVerification,
} from './answer-caches.ts'
export { AnswerCaches } from './answer-caches.ts'
export { answer, answers, jsonOrEvents } from './answers.ts'
export {
  Autopilot,
  type AutopilotEnd,
  type AutopilotOptions,
  type AutopilotRoute,
  type AutopilotStanding,
} from './autopilot.ts'
export { type CallChain, CallChains, type CallModule } from './call-chains.ts'
export {
  type Applied,
  type ApplyOptions,
  Configuration,
  type Configured,
  type Decided,
  type FormChange,
  type Forms,
  type Portable,
  type PortableSection,
} from './configuration.ts'
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
} from './counting.ts'
export { type Arrangement, Delivery, type OwnKey } from './delivery.ts'
export { type Fault, Faults } from './faults.ts'
export { Feedback, type FeedbackRecord } from './feedback.ts'
export { type FigureDimension, type FigureLine, type FigureSums, Figures } from './figures.ts'
export {
  type GuardrailHit,
  type GuardrailRuleSet,
  GuardrailRules,
  type GuardrailSpan,
  type OwnGuardrailRules,
} from './guardrails.ts'
export { type InsightRecord, type InsightReport, Insights } from './insights.ts'
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
} from './jobs.ts'
export {
  type ImpersonalDraft,
  Ledger,
  type LedgerActor,
  type LedgerDraft,
  type LedgerEntry,
  type LedgerHead,
  type LedgerQuery,
  type LedgerResource,
} from './ledger.ts'
export { type Capability, capabilities, ModelCatalogue, type ModelDescription } from './model-catalogue.ts'
export {
  type Plan,
  Plans,
  planBudget,
  type Quota,
  type Tier,
  tiers,
  type UpgradePrompt,
} from './plans.ts'
export {
  type Context,
  defineArea,
  defineModule,
  defineProvider,
  type Hooks,
  type OnceContext,
} from './plugin.ts'
export {
  type OwnPolicies,
  type PolicyCheck,
  type PolicyHit,
  type PolicySpan,
  type PolicyToolUse,
  TrustPolicies,
} from './policies.ts'
export { type PriceDescription, type PriceItem, Pricing, type Rate, type Rates } from './pricing.ts'
export {
  type Credential,
  hintOf,
  type ModerationQuestion,
  type Protocol,
  type Provider,
  type ProviderSpec,
  providerSpec,
  type StreamDecoder,
  type Target,
  type TokenQuestion,
  type UpstreamHead,
  type UpstreamRequest,
} from './provider.ts'
export {
  RedTeam,
  type RedTeamCampaign,
  type RedTeamQuery,
  type RedTeamVulnerability,
} from './redteam.ts'
export { type Age, type RecordClass, Retention, RetentionDue } from './retention.ts'
export { type Candidate, Routing } from './routing.ts'
export { SealedBodies, Sealing, type Signature, Signing, type SigningKey } from './sealing.ts'
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
} from './spend.ts'
export { CallTaint, type Taint } from './taint.ts'
export { type FoundTemplate, type TemplateChoice, Templates } from './templates.ts'
export { type Estimator, type TokenCount, TokenCounting } from './token-counting.ts'
export {
  CallTraced,
  type TraceBodies,
  type TracedAttempt,
  type TraceError,
  type TracePlace,
  type TraceQuery,
  TraceReader,
  type TraceSummary,
} from './traces.ts'
export { UsageRecords, type UsedSums } from './usage-records.ts'
export { type WebhookDelivery, type WebhookReceiver, WebhookSender } from './webhooks.ts'
