/** What authors of plugins test with, published as `switchyard/testing`: this project's own tests run on the same. */

import type { Call } from '../kernel/call/call.ts'
import type { ModelRequest } from '../kit/canonical/forms.ts'
import { callWith as anyCall } from './chain.ts'
import { type GatewayOptions, type GatewayUnderTest, startGateway as start } from './harness.ts'

export { type Answer, ask, type Question, textOf } from './ask.ts'
export { type CheckResult, checkPlugin } from './conformance/check.ts'
export { cutsOf, holdsAtEveryCut, streamsAsWhole } from './cuts.ts'
export type { GatewayOptions, GatewayUnderTest } from './harness.ts'
export { content as answerText, toolArguments } from './scanning.ts'
export { anthropic } from './upstream/anthropic/index.ts'
export {
  azure,
  cohere,
  gemini,
  type Match,
  openai,
  type RecordedRequest,
  type Script,
  startUpstream,
  type Upstream,
  type UpstreamOptions,
} from './upstream/index.ts'

/** A call that nobody has touched. */
export const callWith: (request?: Partial<ModelRequest>) => Call = anyCall

/** Boots a whole gateway in this process, with real storage in a temporary folder; close it when done. */
export const startGateway: (options?: GatewayOptions) => Promise<GatewayUnderTest> = start
