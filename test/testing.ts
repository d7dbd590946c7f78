/** What authors of plugins test with, published as `switchyard/testing`: this project's own tests run on the same. */

export { type Answer, ask, type Question, textOf } from './ask.ts'
export { type CheckResult, checkPlugin } from './conformance/check.ts'
export { cutsOf, holdsAtEveryCut, streamsAsWhole } from './cuts.ts'
export { type GatewayOptions, type GatewayUnderTest, startGateway } from './harness.ts'
export { callWith, content as answerText, toolArguments } from './scanning.ts'
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
