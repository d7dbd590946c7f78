/** Pure helpers for plugins: nothing here holds state or does I/O. */

export { type Finder, type Finding, findAll } from '../chain/detect.ts'
export { mapReplyTexts, mapRequestTexts, requestTexts } from '../chain/texts.ts'
export { compileGlobs } from '../chain/when.ts'
export { inAny, networkOf } from '../http/client.ts'
export { isTooDeep, parseForeign } from '../json-bounds.ts'
export { nanoOf, usdOf } from '../money.ts'
export { itemsOf, type PriceItem } from '../prices/items.ts'
export { Assembler } from '../stream/assemble.ts'
export { ByteRun } from '../stream/byte-run.ts'
export { finishChunk, hasContent } from '../stream/chunk.ts'
export { ChunkReader } from '../stream/chunk-reader.ts'
export { toChunks } from '../stream/chunks.ts'
export { collect, replyWith } from '../stream/collect.ts'
export { filterStream } from '../stream/filter.ts'
export { isSound } from '../stream/parse.ts'
export { carriesData, EventSplitter, encodeEvent, eventData, isDone } from '../stream/sse.ts'
export { type Estimator, estimatorOf } from '../tokens/estimate.ts'
export { countRequest, type TokenCount } from '../tokens/request.ts'
export { encodingOf, type Tokenizer } from '../tokens/tokenizer.ts'
export { loadTokenizer, Tokenizers } from '../tokens/tokenizers.ts'
export { type AccessToken, AccessTokens } from './access-tokens.ts'
export { Changes } from './changes.ts'
export { CleanTexts } from './clean-texts.ts'
export { type ClosedSchema, closedSchema } from './closed-schema.ts'
export { type Counts, usageFromCounts } from './counts.ts'
export { type CutJson, cutJson } from './cut-json.ts'
export { type Difference, differences, type Shape } from './difference.ts'
export { embeddingList } from './embeddings.ts'
export { type FittingNames, fittingName, fittingNames } from './fitting-names.ts'
export { callArguments, jsonObject, objectIn } from './foreign-json.ts'
export { type Form, formFinder, lookBehind, type Sign } from './form.ts'
export { formProblem } from './form-problem.ts'
export { jsonSchemaOf } from './json-schema.ts'
export { listed, listOf, listQuery } from './listing.ts'
export { isPattern, patternFinder } from './pattern.ts'
export { optionsReader, protocolError, quirksReader } from './provider-facts.ts'
export { quoted } from './quoted.ts'
export { ReadyProviders } from './ready-providers.ts'
export {
  claudeReasoning,
  inPlace,
  leastThinkingBudget,
  markedSignature,
  mergedDetails,
  type ReasoningDetail,
  signatureIn,
  thinkingBudgets,
} from './reasoning.ts'
export { argumentsText, StreamedCalls } from './streamed-calls.ts'
export { estimateTokens } from './tokens.ts'
export { calledFunctions, isSpare, parametersSchema, type ToolChoice, toolChoiceOf } from './tool-choice.ts'
export { retryAfterS, type UpstreamFailure, upstreamFailure } from './upstream-failure.ts'
export { WindowLimit, type WindowLimitOptions } from './window-limit.ts'
export { wishfulHooks } from './wishful.ts'
