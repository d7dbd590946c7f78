/** Helpers for plugins: nothing here knows a gateway. */

export * as field from '../config/fields.ts'
export { collect, replyWith } from '../kernel/stream/collect.ts'
export { filterStream } from '../kernel/stream/filter.ts'
export { type Handlers, type Methods, RpcPort } from '../storage/shared/rpc-port.ts'
export { SupervisedWorker } from '../workers/supervised-worker.ts'
export { WorkerLost } from '../workers/supervision.ts'
export { answerCount } from './answers/answer-count.ts'
export { answeredRequest, answerKey, type Circle, circleOf } from './answers/answer-key.ts'
export { answerSharing } from './answers/answer-sharing.ts'
export { answerStructure, textStructure } from './answers/answer-structure.ts'
export { answerText } from './answers/answer-text.ts'
export { answerTexts } from './answers/answer-texts.ts'
export { type AnswerTokens, answerTokens } from './answers/answer-tokens.ts'
export { type CacheDirectives, cacheDirectives } from './answers/cache-directives.ts'
export type { CacheEntry } from './answers/entry.ts'
export { type AnswerFacts, ageS, KeptAnswers, type KeptAnswersOptions } from './answers/kept-answers.ts'
export { isModelRefusal } from './answers/model-refusal.ts'
export { isStorable, replayed, watched } from './answers/replay.ts'
export { answerCacheFields } from './answers/settings.ts'
export { atMost } from './at-most.ts'
export { newAttempt } from './calls/attempt.ts'
export { type CostEstimate, estimateCost } from './calls/call-cost.ts'
export { callFigures } from './calls/call-figures.ts'
export { callParams } from './calls/call-params.ts'
export { callProblem } from './calls/call-problem.ts'
export { type CallStatus, callStatus, callStatuses } from './calls/call-status.ts'
export { type Conversation, conversationOf } from './calls/conversation.ts'
export { countsAsRequest } from './calls/counts-as-request.ts'
export {
  type DeferredCall,
  DeferredCalls,
  type DeferredResult,
  deferCall,
  deferredCall,
  deferredResult,
} from './calls/deferred-call.ts'
export { type DryStep, dryRun } from './calls/dry-run.ts'
export { embed } from './calls/embed.ts'
export { estimateTokens, estimatorOf, type TokenRates } from './calls/estimate.ts'
export { expectedTokens } from './calls/expected-tokens.ts'
export { explainNext } from './calls/explain-next.ts'
export { factName } from './calls/fact-name.ts'
export { idempotencyKey } from './calls/idempotency-key.ts'
export { instructionsAtStart } from './calls/instructions-at-start.ts'
export { Learned, type LearnedOptions, type Learner } from './calls/learned.ts'
export { mayPass } from './calls/may-pass.ts'
export { type MessageContent, messageContent } from './calls/message-content.ts'
export { messageTexts } from './calls/message-texts.ts'
export { messageTokens } from './calls/message-tokens.ts'
export { chatBody, completionBody, embeddingBody } from './calls/model-bodies.ts'
export { type ModelName, modelName } from './calls/model-name.ts'
export {
  addingTo,
  answeringFromMemory,
  modelAskedAgain,
  type PastCall,
  pastCallOf,
  repeatCall,
  sourceUserOf,
} from './calls/past-call.ts'
export { eachPastCall, type PastCallsOptions } from './calls/past-calls.ts'
export { permit } from './calls/permit.ts'
export { type Priority, priorities, priorityOf } from './calls/priority.ts'
export { allProtocolOptions, protocolOptions } from './calls/protocol-options.ts'
export { protocolOptionsHooks } from './calls/protocol-options-hooks.ts'
export { Race } from './calls/race.ts'
export { contentFields, openDefaults } from './calls/request-defaults.ts'
export { isOfRequest } from './calls/request-fault.ts'
export { roughTokens } from './calls/rough-tokens.ts'
export { type Sticky, stickies, stickyPlace } from './calls/sticky.ts'
export { type StoredPrincipal, storedPrincipal, storePrincipal } from './calls/stored-principal.ts'
export { type Summarising, summarise, summaryMessage } from './calls/summarise.ts'
export { limitTokens, tokenLimit, tokenLimitFields } from './calls/token-limit.ts'
export { createTeller, others } from './calls/told-apart.ts'
export { type Judgement, type Verdict, verdictIn, verdictRequest } from './calls/verdict.ts'
export { wantsProse } from './calls/wants-prose.ts'
export { compileWhen } from './calls/when.ts'
export { Assembler } from './canonical/assemble.ts'
export { finishChunk } from './canonical/chunk.ts'
export { toChunks } from './canonical/chunks.ts'
export { isSound, parseChunk } from './canonical/parse.ts'
export { mapReplyTexts, mapRequestParameters, mapRequestTexts, requestTexts } from './canonical/texts.ts'
export { Configurations } from './configurations.ts'
export { BudgetExceeded, CallBudget, type SettleClaim } from './costs/call-budget.ts'
export { capShare } from './costs/cap-share.ts'
export { mostCallUsd, nanoOf, usdOf } from './costs/money.ts'
export { addRecentCost, dearestRecent, type RecentCosts } from './costs/recent-costs.ts'
export { Reservation } from './costs/reservation.ts'
export { isCard, isIban, isLuhn } from './detection/check-digits.ts'
export { CleanTexts } from './detection/clean-texts.ts'
export { type Finder, type Finding, findAll } from './detection/find-all.ts'
export { type Form, formFinder, lookBehind, type Sign } from './detection/form.ts'
export { type GuardrailPreset, guardrailPresets } from './detection/guardrail-presets.ts'
export {
  type GuardrailRule,
  type GuardrailTarget,
  guardrailRule,
  guardrailRuleFields,
  guardrailRuleObject,
  guardrailTargets,
  hasOneSource,
  longestGuardrailMatch,
  oneSource,
} from './detection/guardrail-rule.ts'
export {
  type HiddenCharacter,
  type HiddenKind,
  hiddenFinder,
  hiddenOpenFrom,
  hiddenReach,
  withoutHidden,
} from './detection/hidden-characters.ts'
export { lastWords } from './detection/last-words.ts'
export {
  lookAlikeFinder,
  lookAlikeReach,
  readAsLatin,
  styledFinder,
  withoutStyle,
} from './detection/look-alikes.ts'
export { isPattern, patternFinder, patternSize, patternTest } from './detection/pattern.ts'
export {
  type PersonalFinding,
  type PersonalType,
  personalFinders,
  personalReach,
  personalRedactor,
  personalTypes,
} from './detection/personal-entities.ts'
export { revealing } from './detection/revealing.ts'
export { findInTurns, matchesInTurns } from './detection/rule-search.ts'
export { type RuleMatch, RuleSet, type RuleSpan } from './detection/rule-set.ts'
export { patternSchema, spanFor, tagged } from './detection/text-guard.ts'
export { type TextRule, textTargetOf } from './detection/text-rule.ts'
export { toldNames } from './detection/told-names.ts'
export {
  type OlderPolicyConfig,
  policyFieldNames,
  policyRuleOptions,
  type TrustPolicy,
  trustPolicy,
  trustPolicyFields,
} from './detection/trust-policy.ts'
export { ensure } from './ensure.ts'
export { type Period, periodAt } from './figures/calendar.ts'
export { bucketOf, middleOf } from './figures/histogram.ts'
export { compileHours, type Hours, hoursSchema } from './figures/hours.ts'
export { type Estimate, estimate, Mean, shareOf } from './figures/interval.ts'
export { timezoneSchema } from './figures/timezone.ts'
export { type Assets, assets } from './http/assets.ts'
export { type BodyOptions, rawBody, streamedBody, type Upload } from './http/body-forms.ts'
export { type FileAnswer, fileAnswer } from './http/file-answer.ts'
export { IpRanges, isIpRange, networkOf } from './http/ip-ranges.ts'
export { listed, listOf, listQuery, shown, timeFilter } from './http/listing.ts'
export { type HtmlPage, pageAnswer } from './http/page-answer.ts'
export { mergedPage, type PageQuery, pageOf, storedPage } from './http/paging.ts'
export { forbidOthers, scopeOf } from './http/viewer.ts'
export { webAddress } from './http/web-address.ts'
export { addNumbers } from './json/add-numbers.ts'
export { canonicalJson, repairedJson } from './json/canonical-json.ts'
export { type CutJson, cutJson } from './json/cut-json.ts'
export { type Difference, differences, type Shape } from './json/difference.ts'
export { excessOfEvent, isTooDeep, parseForeign } from './json/foreign-json.ts'
export { findExcess, type JsonBounds } from './json/json-bounds.ts'
export { jsonSchemaOf } from './json/json-schema.ts'
export { jsonText } from './json/json-text.ts'
export { mapStrings } from './json/map-strings.ts'
export { orderedJson } from './json/ordered-json.ts'
export { nearestKeys, problemOf } from './json/problem-of.ts'
export { type SchemaCheck, type SchemaCheckOptions, schemaCheck } from './json/schema-check.ts'
export { patternsIn } from './json/schema-patterns.ts'
export { type HeldSchema, Schemas } from './json/schemas.ts'
export { isStrictSchema } from './json/strict-schema.ts'
export { Filling } from './mustache/fill.ts'
export { namesIn as mustacheNames } from './mustache/names.ts'
export { type Node as MustacheNode, parse as parseMustache } from './mustache/parse.ts'
export { resolved as withPartials, slugsIn as mustachePartials } from './mustache/partials.ts'
export { orNone } from './or-none.ts'
export { type LintFinding, lint } from './prompt-lint/lint.ts'
export { type RuleName as LintRule, ruleNames as lintRules } from './prompt-lint/rule.ts'
export { readable } from './readable.ts'
export { type BodySeals, bodySeals, type Seal } from './records/body-seals.ts'
export { changed, changeOf } from './records/change.ts'
export { Expiry } from './records/expiry.ts'
export { followRows } from './records/follow-rows.ts'
export { KeptSets } from './records/kept-sets.ts'
export {
  checkVisibility,
  type Owned,
  OwnedRows,
  onlyShared,
  ownedKey,
  visibilities,
  visibility,
} from './records/owned.ts'
export { type KeptOfUser, personalOfUsers, rowsOfUsers } from './records/personal.ts'
export { daysOf, retained, usualDays } from './records/retained.ts'
export { rowSection } from './records/row-section.ts'
export { SealedJson, type TextOwner } from './records/sealed-json.ts'
export { shownChange } from './records/shown-change.ts'
export {
  type NewVersion,
  type StoredVersion,
  type Versioned,
  VersionedRows,
  versionKey,
} from './records/versioned.ts'
export { matchesWithinWord, type Secret, type SecretPattern, secretOpenFrom } from './secrets/finders.ts'
export type { SearchBudget } from './secrets/library.ts'
export { secretReach, usualSecretLength } from './secrets/rules.ts'
export { SecretSearch, type SecretSearchOptions } from './secrets/search.ts'
export { ByteRun } from './streams/byte-run.ts'
export { eventsOf, readChunks } from './streams/chunk-events.ts'
export { ChunkReader } from './streams/chunk-reader.ts'
export { type ContentWriter, writeContent, writingInTurns } from './streams/content-writer.ts'
export { EventShape } from './streams/event-shape.ts'
export { hasContent } from './streams/has-content.ts'
export { callsTool, HeldAnswer, type Judge } from './streams/held-answer.ts'
export { joinChunks } from './streams/join.ts'
export { Listening } from './streams/listening.ts'
export { answerLength, shortenAnswer } from './streams/shorten-answer.ts'
export {
  carriesData,
  EventRefused,
  EventSplitter,
  encodeEvent,
  eventData,
  isDone,
} from './streams/sse.ts'
export { byName, isGlob } from './text/by-name.ts'
export {
  type CharacterClass,
  classes as characterClasses,
  classOf as characterClassOf,
} from './text/characters.ts'
export { compileGlobs } from './text/globs.ts'
export { type LanguageDetector, languageDetector } from './text/language.ts'
export { linesOf } from './text/lines.ts'
export { nearest } from './text/nearest.ts'
export { holdsPassages, passagesIntroduction } from './text/passages.ts'
export { sentenceEnd } from './text/sentences.ts'
export { similarity, wordsOf } from './text/similarity.ts'
export { cosine, type Vector, vectorsOf } from './text/vectors.ts'
export { contain, detach } from './work/contain.ts'
export { endJob } from './work/end-job.ts'
export { addEndRoutes, type EndedByClients } from './work/end-routes.ts'
export { eraseWithJobs } from './work/erase-jobs.ts'
export { HourlyCounts } from './work/hourly-counts.ts'
export { inTurns } from './work/in-turns.ts'
export { pause } from './work/pause.ts'
export { persist } from './work/persist.ts'
export { RowWaits } from './work/row-waits.ts'
export { SharedRoom } from './work/shared-room.ts'
export { takingTurns } from './work/turns.ts'
export { WindowLimit, type WindowLimitOptions } from './work/window-limit.ts'
export { Writes } from './work/writes.ts'
