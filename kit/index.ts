/** Helpers for plugins: nothing here knows a gateway. */

export * as field from '../config/fields.ts'
export { collect, replyWith } from '../kernel/stream/collect.ts'
export { filterStream } from '../kernel/stream/filter.ts'
export { type Handlers, type Methods, RpcPort } from '../storage/shared/rpc-port.ts'
export { SupervisedWorker } from '../workers/supervised-worker.ts'
export { WorkerLost } from '../workers/supervision.ts'
export { addNumbers } from './add-numbers.ts'
export { answerCount } from './answer-count.ts'
export { answeredRequest, answerKey, type Circle, circleOf } from './answer-key.ts'
export { answerSharing } from './answer-sharing.ts'
export { answerStructure, textStructure } from './answer-structure.ts'
export { answerText } from './answer-text.ts'
export { answerTexts } from './answer-texts.ts'
export { type AnswerTokens, answerTokens } from './answer-tokens.ts'
export type { CacheEntry } from './answers/entry.ts'
export { type AnswerFacts, ageS, KeptAnswers, type KeptAnswersOptions } from './answers/kept-answers.ts'
export { isStorable, replayed, watched } from './answers/replay.ts'
export { answerCacheFields } from './answers/settings.ts'
export { type Assets, assets } from './assets.ts'
export { atMost } from './at-most.ts'
export { newAttempt } from './attempt.ts'
export { type BodyOptions, rawBody, streamedBody, type Upload } from './body-forms.ts'
export { type BodySeals, bodySeals, type Seal } from './body-seals.ts'
export { byName, isGlob } from './by-name.ts'
export { ByteRun } from './byte-run.ts'
export { type CacheDirectives, cacheDirectives } from './cache-directives.ts'
export { type Period, periodAt } from './calendar.ts'
export { BudgetExceeded, CallBudget, type SettleClaim } from './call-budget.ts'
export { type CostEstimate, estimateCost } from './call-cost.ts'
export { callFigures } from './call-figures.ts'
export { callParams } from './call-params.ts'
export { callProblem } from './call-problem.ts'
export { type CallStatus, callStatus, callStatuses } from './call-status.ts'
export { Assembler } from './canonical/assemble.ts'
export { finishChunk } from './canonical/chunk.ts'
export { toChunks } from './canonical/chunks.ts'
export { isSound, parseChunk } from './canonical/parse.ts'
export { mapReplyTexts, mapRequestParameters, mapRequestTexts, requestTexts } from './canonical/texts.ts'
export { canonicalJson, repairedJson } from './canonical-json.ts'
export { capShare } from './cap-share.ts'
export { changed, changeOf } from './change.ts'
export {
  type CharacterClass,
  classes as characterClasses,
  classOf as characterClassOf,
} from './characters.ts'
export { isCard, isIban, isLuhn } from './check-digits.ts'
export { eventsOf, readChunks } from './chunk-events.ts'
export { ChunkReader } from './chunk-reader.ts'
export { CleanTexts } from './clean-texts.ts'
export { Configurations } from './configurations.ts'
export { contain, detach } from './contain.ts'
export { type ContentWriter, writeContent } from './content-writer.ts'
export { type Conversation, conversationOf } from './conversation.ts'
export { countsAsRequest } from './counts-as-request.ts'
export { type CutJson, cutJson } from './cut-json.ts'
export {
  type DeferredCall,
  DeferredCalls,
  type DeferredResult,
  deferCall,
  deferredCall,
  deferredResult,
} from './deferred-call.ts'
export { type Difference, differences, type Shape } from './difference.ts'
export { type DryStep, dryRun } from './dry-run.ts'
export { embed } from './embed.ts'
export { endJob } from './end-job.ts'
export { addEndRoutes, type EndedByClients } from './end-routes.ts'
export { ensure } from './ensure.ts'
export { eraseWithJobs } from './erase-jobs.ts'
export { estimateTokens, estimatorOf, type TokenRates } from './estimate.ts'
export { EventShape } from './event-shape.ts'
export { expectedTokens } from './expected-tokens.ts'
export { Expiry } from './expiry.ts'
export { explainNext } from './explain-next.ts'
export { factName } from './fact-name.ts'
export { type FileAnswer, fileAnswer } from './file-answer.ts'
export { type Finder, type Finding, findAll } from './find-all.ts'
export { followRows } from './follow-rows.ts'
export { isTooDeep, parseForeign } from './foreign-json.ts'
export { type Form, formFinder, lookBehind, type Sign } from './form.ts'
export { compileGlobs } from './globs.ts'
export { type GuardrailPreset, guardrailPresets } from './guardrail-presets.ts'
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
} from './guardrail-rule.ts'
export { hasContent } from './has-content.ts'
export { callsTool, HeldAnswer, type Judge } from './held-answer.ts'
export {
  type HiddenCharacter,
  type HiddenKind,
  hiddenFinder,
  hiddenOpenFrom,
  hiddenReach,
  withoutHidden,
} from './hidden-characters.ts'
export { bucketOf, middleOf } from './histogram.ts'
export { HourlyCounts } from './hourly-counts.ts'
export { compileHours, type Hours, hoursSchema } from './hours.ts'
export { idempotencyKey } from './idempotency-key.ts'
export { inTurns } from './in-turns.ts'
export { instructionsAtStart } from './instructions-at-start.ts'
export { type Estimate, estimate, Mean, shareOf } from './interval.ts'
export { IpRanges, isIpRange, networkOf } from './ip-ranges.ts'
export { joinChunks } from './join.ts'
export { jsonSchemaOf } from './json-schema.ts'
export { jsonText } from './json-text.ts'
export { KeptSets } from './kept-sets.ts'
export { type LanguageDetector, languageDetector } from './language.ts'
export { lastWords } from './last-words.ts'
export { Learned, type LearnedOptions, type Learner } from './learned.ts'
export { linesOf } from './lines.ts'
export { Listening } from './listening.ts'
export { listed, listOf, listQuery, shown, timeFilter } from './listing.ts'
export {
  lookAlikeFinder,
  lookAlikeReach,
  readAsLatin,
  styledFinder,
  withoutStyle,
} from './look-alikes.ts'
export { mapStrings } from './map-strings.ts'
export { mayPass } from './may-pass.ts'
export { type MessageContent, messageContent } from './message-content.ts'
export { messageTexts } from './message-texts.ts'
export { messageTokens } from './message-tokens.ts'
export { chatBody, completionBody, embeddingBody } from './model-bodies.ts'
export { type ModelName, modelName } from './model-name.ts'
export { isModelRefusal } from './model-refusal.ts'
export { mostCallUsd, nanoOf, usdOf } from './money.ts'
export { Filling } from './mustache/fill.ts'
export { namesIn as mustacheNames } from './mustache/names.ts'
export { type Node as MustacheNode, parse as parseMustache } from './mustache/parse.ts'
export { resolved as withPartials, slugsIn as mustachePartials } from './mustache/partials.ts'
export { nearest } from './nearest.ts'
export { orNone } from './or-none.ts'
export { orderedJson } from './ordered-json.ts'
export {
  checkVisibility,
  type Owned,
  OwnedRows,
  onlyShared,
  ownedKey,
  visibilities,
  visibility,
} from './owned.ts'
export { type HtmlPage, pageAnswer } from './page-answer.ts'
export { mergedPage, type PageQuery, pageOf, storedPage } from './paging.ts'
export { holdsPassages, passagesIntroduction } from './passages.ts'
export {
  addingTo,
  answeringFromMemory,
  modelAskedAgain,
  type PastCall,
  pastCallOf,
  repeatCall,
  sourceUserOf,
} from './past-call.ts'
export { eachPastCall, type PastCallsOptions } from './past-calls.ts'
export { isPattern, patternFinder, patternSize, patternTest } from './pattern.ts'
export { pause } from './pause.ts'
export { permit } from './permit.ts'
export { persist } from './persist.ts'
export { type KeptOfUser, personalOfUsers, rowsOfUsers } from './personal.ts'
export {
  type PersonalFinding,
  type PersonalType,
  personalFinders,
  personalReach,
  personalRedactor,
  personalTypes,
} from './personal-entities.ts'
export { type Priority, priorities, priorityOf } from './priority.ts'
export { nearestKeys, problemOf } from './problem-of.ts'
export { type LintFinding, lint } from './prompt-lint/lint.ts'
export { type RuleName as LintRule, ruleNames as lintRules } from './prompt-lint/rule.ts'
export { allProtocolOptions, protocolOptions } from './protocol-options.ts'
export { protocolOptionsHooks } from './protocol-options-hooks.ts'
export { Race } from './race.ts'
export { readable } from './readable.ts'
export { addRecentCost, dearestRecent, type RecentCosts } from './recent-costs.ts'
export { contentFields, openDefaults } from './request-defaults.ts'
export { isOfRequest } from './request-fault.ts'
export { Reservation } from './reservation.ts'
export { daysOf, retained, usualDays } from './retained.ts'
export { revealing } from './revealing.ts'
export { roughTokens } from './rough-tokens.ts'
export { rowSection } from './row-section.ts'
export { RowWaits } from './row-waits.ts'
export { type RuleMatch, RuleSet, type RuleSpan } from './rule-set.ts'
export { type SchemaCheck, type SchemaCheckOptions, schemaCheck } from './schema-check.ts'
export { patternsIn } from './schema-patterns.ts'
export { type HeldSchema, Schemas } from './schemas.ts'
export { SealedJson, type TextOwner } from './sealed-json.ts'
export { matchesWithinWord, type Secret, type SecretPattern, secretOpenFrom } from './secrets/finders.ts'
export type { SearchBudget } from './secrets/library.ts'
export { secretReach, usualSecretLength } from './secrets/rules.ts'
export { SecretSearch, type SecretSearchOptions } from './secrets/search.ts'
export { sentenceEnd } from './sentences.ts'
export { answerLength, shortenAnswer } from './shorten-answer.ts'
export { shownChange } from './shown-change.ts'
export { similarity, wordsOf } from './similarity.ts'
export {
  carriesData,
  EventRefused,
  EventSplitter,
  encodeEvent,
  eventData,
  isDone,
} from './sse.ts'
export { type Sticky, stickies, stickyPlace } from './sticky.ts'
export { type StoredPrincipal, storedPrincipal, storePrincipal } from './stored-principal.ts'
export { isStrictSchema } from './strict-schema.ts'
export { type Summarising, summarise, summaryMessage } from './summarise.ts'
export { patternSchema, spanFor, tagged } from './text-guard.ts'
export { type TextRule, textTargetOf } from './text-rule.ts'
export { timezoneSchema } from './timezone.ts'
export { limitTokens, tokenLimit, tokenLimitFields } from './token-limit.ts'
export { createTeller, others } from './told-apart.ts'
export { toldNames } from './told-names.ts'
export {
  type OlderPolicyConfig,
  policyFieldNames,
  policyRuleOptions,
  type TrustPolicy,
  trustPolicy,
  trustPolicyFields,
} from './trust-policy.ts'
export { takingTurns } from './turns.ts'
export { cosine, type Vector, vectorsOf } from './vectors.ts'
export { type Judgement, type Verdict, verdictIn, verdictRequest } from './verdict.ts'
export {
  type NewVersion,
  type StoredVersion,
  type Versioned,
  VersionedRows,
  versionKey,
} from './versioned.ts'
export { forbidOthers, scopeOf } from './viewer.ts'
export { wantsProse } from './wants-prose.ts'
export { webAddress } from './web-address.ts'
export { compileWhen } from './when.ts'
export { WindowLimit, type WindowLimitOptions } from './window-limit.ts'
export { Writes } from './writes.ts'
