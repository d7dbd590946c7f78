import { z } from 'zod'
import { badRequest } from '#kernel'
import { problemOf } from '#kit'
import { spelled } from './spelling.ts'

const fields = z.record(z.string(), z.unknown())

const media = z.looseObject({
  text: z.string().nullish(),
  inlineData: z
    .looseObject({ mimeType: z.string(), data: z.string(), displayName: z.string().nullish() })
    .nullish(),
  fileData: z.looseObject({ mimeType: z.string().nullish(), fileUri: z.string() }).nullish(),
})

/** A part has one kind of content; other fields beside it are carried where they are known. */
const part = media.extend({
  thought: z.boolean().nullish(),
  thoughtSignature: z.string().nullish(),
  functionCall: z
    .looseObject({ id: z.string().nullish(), name: z.string(), args: fields.nullish() })
    .nullish(),
  functionResponse: z
    .looseObject({
      id: z.string().nullish(),
      name: z.string(),
      response: fields.nullish(),
      parts: z.array(media).nullish(),
    })
    .nullish(),
  executableCode: z.looseObject({ language: z.string().nullish(), code: z.string().nullish() }).nullish(),
  codeExecutionResult: z.looseObject({ output: z.string().nullish() }).nullish(),
})

const content = z.looseObject({
  role: z.enum(['user', 'model', 'function']).nullish(),
  parts: z.array(part).nullish(),
})

const declaration = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  parameters: fields.nullish(),
  parametersJsonSchema: fields.nullish(),
})

const generationConfig = z.looseObject({
  temperature: z.number().nullish(),
  topP: z.number().nullish(),
  topK: z.number().nullish(),
  candidateCount: z.int().min(1).max(128).nullish(),
  maxOutputTokens: z.int().min(0).nullish(),
  stopSequences: z.array(z.string()).nullish(),
  responseMimeType: z.string().nullish(),
  responseSchema: fields.nullish(),
  responseJsonSchema: z.unknown().optional(),
  thinkingConfig: z
    .looseObject({
      includeThoughts: z.boolean().nullish(),
      thinkingBudget: z.int().nullish(),
      thinkingLevel: z.string().nullish(),
    })
    .nullish(),
})

const functionCallingConfig = z.looseObject({
  mode: z.string().nullish(),
  allowedFunctionNames: z.array(z.string()).nullish(),
})

/** The fields that the gateway relies on in a request for content. */
export const generateBody = z.looseObject({
  contents: z.array(content).min(1),
  systemInstruction: content.nullish(),
  tools: z.array(z.looseObject({ functionDeclarations: z.array(declaration).nullish() })).nullish(),
  toolConfig: z.looseObject({ functionCallingConfig: functionCallingConfig.nullish() }).nullish(),
  safetySettings: z.array(fields).nullish(),
  generationConfig: generationConfig.nullish(),
  cachedContent: z.string().nullish(),
})

const embedding = {
  content: z.looseObject({ parts: z.array(part).min(1) }),
  taskType: z.string().nullish(),
  title: z.string().nullish(),
  outputDimensionality: z.int().min(1).nullish(),
}

export const embedBody = z.looseObject({ ...embedding, model: z.string().nullish() })
export const batchBody = z.looseObject({ requests: z.array(embedBody).min(1) })

export const countBody = z.looseObject({
  contents: generateBody.shape.contents.optional(),
  generateContentRequest: generateBody.nullish(),
})

export type Part = z.infer<typeof part>
export type Content = z.infer<typeof content>
export type GenerateBody = z.infer<typeof generateBody>
export type EmbedBody = z.infer<typeof embedBody>
export type GenerationConfig = NonNullable<GenerateBody['generationConfig']>
export type Fields = Readonly<Record<string, unknown>>

/** A body in the wire's own spelling, if it has the form; otherwise a bad request that names the field. */
export function checked<T>(schema: z.ZodType<T>, body: unknown): T {
  const { data, error } = schema.safeParse(spelled(body))
  if (!error) return data
  const issue = error.issues[0]!
  const param = pathOf(issue.path) || undefined
  throw badRequest(param ? `${param}: ${problemOf(issue)}.` : 'The body must be a JSON object.', { param })
}

/** A place in a body as Google writes it: `contents[0].parts[1]`. */
const pathOf = (path: readonly PropertyKey[]): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .slice(1)
