/** Pure helpers for plugins: nothing here holds state or does I/O. */

export { inAny } from '../http/client.ts'
export { nanoOf, usdOf } from '../money.ts'
export { Assembler, toChunks } from '../stream/assemble.ts'
export { eventData, finishChunk, hasContent } from '../stream/chunk.ts'
export { collect, replyWith } from '../stream/collect.ts'
export { filterStream } from '../stream/filter.ts'
export { carriesData, EventSplitter, encodeEvent, isDone } from '../stream/sse.ts'
export { mapReplyTexts, mapRequestTexts, requestTexts } from '../texts.ts'
export { compileGlobs } from '../when.ts'
export { listed, listOf, listQuery } from './listing.ts'
export { estimateTokens } from './tokens.ts'
