import { z } from 'zod'
import type { GenerateRequest } from './types.ts'

const text = z.string()
const object = z.record(z.string(), z.unknown())
const base64 = z.string().regex(/^[A-Za-z0-9+/_-]+={0,2}$/, 'Base64 decoding failed')

const blob = z.strictObject({ mimeType: z.string().regex(/^\w+\/[\w.+-]+$/), data: base64 })
const nestedBlob = blob.extend({
  mimeType: z.enum(['image/png', 'image/jpeg', 'image/webp', 'application/pdf', 'text/plain']),
  displayName: z.string().optional(),
})
const outcome = z.enum(['OUTCOME_OK', 'OUTCOME_FAILED', 'OUTCOME_DEADLINE_EXCEEDED'])
const scheduling = z.enum(['SILENT', 'WHEN_IDLE', 'INTERRUPT']).optional()

const partData = {
  text,
  inlineData: blob,
  fileData: z.strictObject({ mimeType: text.optional(), fileUri: z.url() }),
  functionCall: z.strictObject({ id: text.optional(), name: text, args: object.optional() }),
  functionResponse: z.strictObject({
    id: text.optional(),
    name: text,
    response: object,
    parts: z.array(z.strictObject({ inlineData: nestedBlob })).optional(),
    willContinue: z.boolean().optional(),
    scheduling,
  }),
  executableCode: z.strictObject({ language: z.enum(['LANGUAGE_UNSPECIFIED', 'PYTHON']), code: text }),
  codeExecutionResult: z.strictObject({ outcome, output: text.optional() }),
}

/** The data of a part is one of several: exactly one. */
const part = z
  .strictObject({
    ...z.object(partData).partial().shape,
    thought: z.boolean().optional(),
    thoughtSignature: base64.or(z.literal('skip_thought_signature_validator')).optional(),
    videoMetadata: object.optional(),
  })
  .refine((value) => Object.keys(value).filter((field) => field in partData).length === 1, {
    error: "required oneof field 'data' must have one initialized field",
  })

const content = z.strictObject({ role: z.enum(['user', 'model']).optional(), parts: z.array(part).min(1) })

/** The part of OpenAPI's schema that is known. */
const schema: z.ZodType = z.strictObject({
  type: z.enum(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']).optional(),
  format: z.enum(['enum', 'date-time', 'float', 'double', 'int32', 'int64']).optional(),
  title: text.optional(),
  description: text.optional(),
  nullable: z.boolean().optional(),
  enum: z.array(text.min(1)).optional(),
  maxItems: z.number().optional(),
  minItems: z.number().optional(),
  minProperties: z.number().optional(),
  maxProperties: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  pattern: text.optional(),
  example: z.unknown().optional(),
  default: z.unknown().optional(),
  propertyOrdering: z.array(text).optional(),
  required: z.array(text).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  get properties() {
    return z.record(z.string(), schema).optional()
  },
  get items() {
    return schema.optional()
  },
  get anyOf() {
    return z.array(schema).optional()
  },
})

const declaration = z
  .strictObject({
    name: z.string().regex(/^[A-Za-z_][\w.-]{0,63}$/, 'Invalid function name'),
    description: text.optional(),
    behavior: text.optional(),
    parameters: schema.optional(),
    parametersJsonSchema: object.optional(),
    response: schema.optional(),
    responseJsonSchema: object.optional(),
  })
  .refine((value) => !(value.parameters && value.parametersJsonSchema), {
    error: 'parameters and parametersJsonSchema are mutually exclusive',
  })

const tool = z.strictObject({
  functionDeclarations: z.array(declaration).optional(),
  googleSearch: object.optional(),
  codeExecution: object.optional(),
  urlContext: object.optional(),
})

const generationConfig = z.strictObject({
  stopSequences: z.array(text).max(5).optional(),
  responseMimeType: z.enum(['text/plain', 'application/json', 'text/x.enum']).optional(),
  responseSchema: schema.optional(),
  responseJsonSchema: z.unknown().optional(),
  responseModalities: z.array(z.enum(['TEXT', 'IMAGE', 'AUDIO'])).optional(),
  candidateCount: z.int().min(1).max(8).optional(),
  maxOutputTokens: z.int().min(1).optional(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  topK: z.int().min(1).optional(),
  seed: z.int().optional(),
  presencePenalty: z.number().min(-2).max(2).optional(),
  frequencyPenalty: z.number().min(-2).max(2).optional(),
  responseLogprobs: z.boolean().optional(),
  logprobs: z.int().min(0).max(20).optional(),
  speechConfig: object.optional(),
  thinkingConfig: z
    .strictObject({
      includeThoughts: z.boolean().optional(),
      thinkingBudget: z.int().min(-1).max(32_768).optional(),
      thinkingLevel: z.enum(['minimal', 'low', 'medium', 'high']).optional(),
    })
    .optional(),
  mediaResolution: text.optional(),
})

const harm = z.enum([
  'HARM_CATEGORY_HARASSMENT',
  'HARM_CATEGORY_HATE_SPEECH',
  'HARM_CATEGORY_SEXUALLY_EXPLICIT',
  'HARM_CATEGORY_DANGEROUS_CONTENT',
  'HARM_CATEGORY_CIVIC_INTEGRITY',
])

/** The body of :generateContent and :streamGenerateContent, field by field as the API documents it. */
export const generateBody = z.strictObject({
  contents: z.array(content).min(1, 'contents is not specified'),
  systemInstruction: content.optional(),
  tools: z.array(tool).optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z
        .strictObject({
          mode: z.enum(['AUTO', 'ANY', 'NONE', 'VALIDATED']).optional(),
          allowedFunctionNames: z.array(text).optional(),
        })
        .refine(
          ({ mode, allowedFunctionNames }) => !allowedFunctionNames || mode === 'ANY' || mode === 'VALIDATED',
          {
            error: 'allowed_function_names should only be set when mode is ANY or VALIDATED',
          },
        )
        .optional(),
      retrievalConfig: object.optional(),
    })
    .optional(),
  safetySettings: z
    .array(
      z.strictObject({
        category: harm,
        threshold: z.enum([
          'BLOCK_NONE',
          'BLOCK_ONLY_HIGH',
          'BLOCK_MEDIUM_AND_ABOVE',
          'BLOCK_LOW_AND_ABOVE',
          'OFF',
        ]),
      }),
    )
    .optional(),
  generationConfig: generationConfig.optional(),
  cachedContent: text.optional(),
})

/** The body of :countTokens: contents alone, or a whole request that names its model. */
export const countBody = z
  .strictObject({
    contents: generateBody.shape.contents.optional(),
    generateContentRequest: generateBody.extend({ model: text }).optional(),
  })
  .refine(({ contents, generateContentRequest }) => !contents !== !generateContentRequest, {
    error: 'contents and generateContentRequest are mutually exclusive',
  })

export type CountBody = z.infer<typeof countBody>

export type GenerateBody = z.infer<typeof generateBody>

/** What is let in is what Google's library could have sent, by its types. */
export const typed = ({ tools: _, ...body }: GenerateBody): GenerateRequest => body

const embedding = {
  content,
  taskType: text.optional(),
  title: text.optional(),
  outputDimensionality: z.int().min(1).optional(),
}

/** The body of :embedContent. */
export const embedBody = z.strictObject({ ...embedding, model: text.optional() })

/** The body of :batchEmbedContents: each of its requests names the model again. */
export const batchEmbedBody = z.strictObject({
  requests: z
    .array(z.strictObject({ ...embedding, model: z.string().regex(/^models\//) }))
    .min(1)
    .max(100, 'at most 100 requests can be in one batch'),
})
