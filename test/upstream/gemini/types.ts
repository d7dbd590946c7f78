import type {
  Content,
  GenerateContentResponse,
  GenerationConfig,
  SafetySetting,
  ToolConfig,
} from '@google/genai'

/** A type of Google's own library as it stands in JSON: values of enumerations are strings there. */
type Json<T> = T extends string
  ? `${T}`
  : T extends readonly (infer I)[]
    ? Json<I>[]
    : T extends object
      ? { [K in keyof T]: Json<T[K]> | undefined }
      : T

/** What is sent to the service, as far as Google's library has types for it. */
export type GenerateRequest = Json<{
  contents: Content[]
  systemInstruction?: Content
  toolConfig?: ToolConfig
  safetySettings?: SafetySetting[]
  generationConfig?: Omit<
    GenerationConfig,
    'responseSchema' | 'speechConfig' | 'mediaResolution' | 'thinkingConfig'
  >
  cachedContent?: string
}>

type Answered = 'candidates' | 'promptFeedback' | 'usageMetadata' | 'modelVersion' | 'responseId'

/** What the service answers, and each event of a streamed answer. */
export type GenerateAnswer = Json<Pick<GenerateContentResponse, Answered>>

export type AnswerPart = Json<NonNullable<Content['parts']>[number]>
