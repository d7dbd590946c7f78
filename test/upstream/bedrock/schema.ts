import { z } from 'zod'
import { hasOpenObjects } from '../open-objects.ts'

const text = z.string()
const spoken = text.regex(/\S/, 'The text field in the ContentBlock object is blank.')
const bytes = z.base64().min(1)
const s3Location = z.strictObject({
  uri: text.regex(/^s3:\/\/[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9](\/.*)?$/),
  bucketOwner: text.optional(),
})
const source = oneOf({ bytes, s3Location })
const id = text.regex(/^[a-zA-Z0-9_-]{1,64}$/)
const name = id
const json = z.record(text, z.unknown())

const cachePoint = z.strictObject({ type: z.literal('default'), ttl: z.enum(['5m', '1h']).optional() })
const image = z.strictObject({ format: z.enum(['png', 'jpeg', 'gif', 'webp']), source })
const video = z.strictObject({
  format: z.enum(['mkv', 'mov', 'mp4', 'webm', 'flv', 'mpeg', 'mpg', 'wmv', 'three_gp']),
  source,
})
const document = z.strictObject({
  format: z.enum(['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md']).optional(),
  name: text.max(200).regex(/^(?!.*\s\s)[a-zA-Z0-9\s()[\]-]+$/),
  source: oneOf({ bytes, s3Location, text }),
  citations: z.strictObject({ enabled: z.boolean() }).optional(),
  context: text.min(1).optional(),
})
const searchResult = z.strictObject({
  source: text.min(1),
  title: text.min(1),
  content: z.array(z.strictObject({ text })).min(1),
  citations: z.strictObject({ enabled: z.boolean() }).optional(),
})
const toolUse = z.strictObject({ toolUseId: id, name, input: json })
const toolResult = z.strictObject({
  toolUseId: id,
  content: z.array(oneOf({ text, json: z.unknown(), image, document, video, searchResult })),
  status: z.enum(['success', 'error']).optional(),
})
const reasoningContent = oneOf({
  reasoningText: z.strictObject({ text, signature: text.min(1).optional() }),
  redactedContent: bytes,
})

const message = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: z
      .array(oneOf({ text: spoken, image, video, document, searchResult, toolResult, cachePoint }))
      .min(1),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.array(oneOf({ text: spoken, toolUse, reasoningContent, cachePoint })).min(1),
  }),
])

const empty = z.strictObject({})
const toolConfig = z.strictObject({
  tools: z
    .array(
      oneOf({
        toolSpec: z.strictObject({
          name,
          description: text.min(1).optional(),
          inputSchema: oneOf({ json: z.looseObject({ type: z.literal('object') }) }),
          strict: z.boolean().optional(),
        }),
        cachePoint,
      }),
    )
    .min(1),
  toolChoice: oneOf({ auto: empty, any: empty, tool: z.strictObject({ name }) }).optional(),
})

/** The body of a Converse request, field by field as the service documents it; nothing else is let in. */
export const converseBody = z.strictObject({
  messages: z.array(message).min(1),
  system: z.array(oneOf({ text: spoken, cachePoint })).optional(),
  inferenceConfig: z
    .strictObject({
      maxTokens: z.int().min(1).optional(),
      temperature: z.number().min(0).max(1).optional(),
      topP: z.number().min(0).max(1).optional(),
      stopSequences: z.array(text.min(1)).max(2500).optional(),
    })
    .optional(),
  toolConfig: toolConfig.optional(),
  guardrailConfig: z
    .strictObject({
      guardrailIdentifier: text.min(1),
      guardrailVersion: text.regex(/^(\d{1,8}|DRAFT)$/),
      trace: z.enum(['enabled', 'disabled', 'enabled_full']).optional(),
      streamProcessingMode: z.enum(['sync', 'async']).optional(),
    })
    .optional(),
  additionalModelRequestFields: json.optional(),
  additionalModelResponseFieldPaths: z.array(text.regex(/^\/.+/)).max(10).optional(),
  outputConfig: z
    .strictObject({
      textFormat: z.strictObject({
        type: z.literal('json_schema'),
        structure: oneOf({
          jsonSchema: z.strictObject({
            schema: text.refine((json) => !hasOpenObjects(JSON.parse(json)), {
              error: "For 'object' type, 'additionalProperties' must be explicitly set to false",
            }),
            name: text.optional(),
            description: text.optional(),
          }),
        }),
      }),
    })
    .optional(),
  requestMetadata: z.record(text, text.max(256)).optional(),
  performanceConfig: z.strictObject({ latency: z.enum(['standard', 'optimized']) }).optional(),
  serviceTier: z.strictObject({ type: z.enum(['default', 'flex', 'priority', 'reserved']) }).optional(),
})

/** The body of a token count: the part of a request that its prompt is made of. */
export const countBody = z.strictObject({
  input: oneOf({
    converse: converseBody.pick({
      messages: true,
      system: true,
      toolConfig: true,
      additionalModelRequestFields: true,
    }),
    invokeModel: z.strictObject({ body: text }),
  }),
})

export type ConverseBody = z.infer<typeof converseBody>

/** A union of the service: an object with exactly one of these fields. */
function oneOf<S extends Record<string, z.ZodType>>(fields: S) {
  const optional = Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, type.optional()]))
  return z
    .strictObject(optional as { [K in keyof S]: z.ZodOptional<S[K]> })
    .refine((value) => Object.keys(value).length === 1, 'must have exactly one field')
}
