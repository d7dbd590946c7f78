/** The kit that providers are written with, and that other plugins use to reach the delivery of calls: `#provider`. */

export { type AccessToken, AccessTokens } from './access-tokens.ts'
export { arrangementOf } from './arrangement.ts'
export { Changes } from './changes.ts'
export { type ClosedSchema, closedSchema } from './closed-schema.ts'
export { type Counts, usageFromCounts } from './counts.ts'
export { embeddingList } from './embeddings.ts'
export { type FittingNames, fittingName, fittingNames } from './fitting-names.ts'
export { callArguments, jsonObject, objectIn } from './foreign-json.ts'
export { formProblem } from './form-problem.ts'
export {
  CircuitClosed,
  CircuitOpened,
  type CircuitReader,
  Circuits,
  KeyQuarantined,
} from './health.ts'
export { type KeyExchange, keyExchange, keyProblem, readyTarget } from './key-exchange.ts'
export { KeySelection, type KeySelector } from './key-selection.ts'
export { ModelAdvice, ModelAliases, type ModelNames, type ModelScope, ModelScopes } from './models.ts'
export { repliedWithToolNames, withToolNames } from './named-tools.ts'
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
export * from './services.ts'
export { argumentsText, StreamedCalls } from './streamed-calls.ts'
export { fetchToken } from './token-endpoint.ts'
export {
  calledFunctions,
  isSpare,
  parametersSchema,
  type ToolChoice,
  toolChoiceOf,
} from './tool-choice.ts'
export { reportUnsaid } from './unsaid.ts'
export {
  brief,
  retryAfterS,
  type UpstreamFailure,
  upstreamFailure,
} from './upstream-failure.ts'
