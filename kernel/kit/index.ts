/** Pure helpers for plugins: nothing here holds state or does I/O. */

export { type Finder, type Finding, findAll } from '../chain/detect.ts'
export { mapReplyTexts, mapRequestTexts, requestTexts } from '../chain/texts.ts'
export { compileGlobs } from '../chain/when.ts'
export * as field from '../config/fields.ts'
export { inAny, networkOf } from '../http/client.ts'
export { isTooDeep, parseForeign } from '../json-bounds.ts'
export { nanoOf, usdOf } from '../money.ts'
export { Assembler } from '../stream/assemble.ts'
export { ByteRun } from '../stream/byte-run.ts'
export { finishChunk, hasContent } from '../stream/chunk.ts'
export { ChunkReader } from '../stream/chunk-reader.ts'
export { toChunks } from '../stream/chunks.ts'
export { collect, replyWith } from '../stream/collect.ts'
export { filterStream } from '../stream/filter.ts'
export { isSound, parseChunk } from '../stream/parse.ts'
export { carriesData, EventRefused, EventSplitter, encodeEvent, eventData, isDone } from '../stream/sse.ts'
export {
  type CharacterClass,
  classes as characterClasses,
  classOf as characterClassOf,
} from './characters.ts'
export { CleanTexts } from './clean-texts.ts'
export { type CutJson, cutJson } from './cut-json.ts'
export { type Difference, differences, type Shape } from './difference.ts'
export { estimateTokens, estimatorOf, type TokenRates } from './estimate.ts'
export { type Form, formFinder, lookBehind, type Sign } from './form.ts'
export { jsonSchemaOf } from './json-schema.ts'
export { listed, listOf, listQuery } from './listing.ts'
export { isPattern, patternFinder } from './pattern.ts'
export { WindowLimit, type WindowLimitOptions } from './window-limit.ts'
export { wishfulHooks } from './wishful.ts'
