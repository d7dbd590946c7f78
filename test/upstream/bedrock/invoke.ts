import { z } from 'zod'
import { countTokens } from '../openai/tokens.ts'
import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import { vectorOf } from '../vectors.ts'
import type { Answer } from '../wire.ts'
import { serviceHeaders } from './failure.ts'

const inputText = z.string().min(1)
const texts = z.array(z.string()).min(1).max(96)
const input_type = z.enum(['search_document', 'search_query', 'classification', 'clustering'])
const embedding_types = z.array(z.enum(['float', 'int8', 'uint8', 'binary', 'ubinary'])).optional()

const titanText = z.strictObject({ inputText })
const titanTextV2 = z.strictObject({
  inputText,
  dimensions: z.literal([256, 512, 1024]).optional(),
  normalize: z.boolean().optional(),
  embeddingTypes: z.array(z.enum(['float', 'binary'])).optional(),
})
const titanImage = z.strictObject({
  inputText: inputText.optional(),
  inputImage: z.base64().optional(),
  embeddingConfig: z.strictObject({ outputEmbeddingLength: z.literal([256, 384, 1024]) }).optional(),
})
const nova = z.strictObject({
  schemaVersion: z.literal('nova-multimodal-embed-v1').optional(),
  taskType: z.literal('SINGLE_EMBEDDING'),
  singleEmbeddingParams: z.strictObject({
    embeddingPurpose: z.enum([
      'GENERIC_INDEX',
      'GENERIC_RETRIEVAL',
      'TEXT_RETRIEVAL',
      'DOCUMENT_RETRIEVAL',
      'CLASSIFICATION',
      'CLUSTERING',
    ]),
    embeddingDimension: z.literal([256, 384, 1024, 3072]).optional(),
    text: z.strictObject({ truncationMode: z.enum(['START', 'END', 'NONE']), value: z.string().min(1) }),
  }),
})
const cohere = z.strictObject({
  texts,
  input_type,
  embedding_types,
  truncate: z.enum(['NONE', 'START', 'END']).optional(),
})
const cohereV4 = z.strictObject({
  texts,
  input_type,
  embedding_types,
  output_dimension: z.literal([256, 512, 1024, 1536]).optional(),
  max_tokens: z.int().max(128_000).optional(),
  truncate: z.enum(['NONE', 'LEFT', 'RIGHT']).optional(),
})

interface Said {
  readonly texts: readonly string[]
  readonly body: object
}

/** A model of embeddings: what it takes, and what it says. */
const models: readonly { readonly names: RegExp; readonly schema: z.ZodType; said(body: never): Said }[] = [
  {
    names: /titan-embed-image/,
    schema: titanImage,
    said: ({ inputText: text = '', embeddingConfig: config }: z.infer<typeof titanImage>) =>
      titanSaid(text, config?.outputEmbeddingLength ?? 1024),
  },
  {
    names: /titan-embed-text-v2/,
    schema: titanTextV2,
    said: ({ inputText: text, dimensions = 1024 }: z.infer<typeof titanTextV2>) => {
      const { texts: given, body } = titanSaid(text, dimensions)
      return { texts: given, body: { ...body, embeddingsByType: { float: vectorOf(text, dimensions) } } }
    },
  },
  {
    names: /titan-embed/,
    schema: titanText,
    said: ({ inputText: text }: z.infer<typeof titanText>) => titanSaid(text, 1536),
  },
  {
    names: /nova.*embed/,
    schema: nova,
    said({ singleEmbeddingParams: { text, embeddingDimension = 3072 } }: z.infer<typeof nova>) {
      const embedding = vectorOf(text.value, embeddingDimension)
      const body = {
        embeddings: [{ embeddingType: 'TEXT', embedding }],
        inputTokenCount: countTokens(text.value),
      }
      return { texts: [text.value], body }
    },
  },
  {
    names: /cohere\.embed-v4/,
    schema: cohereV4,
    said: ({ texts: given, output_dimension = 1536, embedding_types: types }: z.infer<typeof cohereV4>) =>
      cohereSaid(given, output_dimension, types),
  },
  {
    names: /cohere\.embed/,
    schema: cohere,
    said: ({ texts: given, embedding_types: types }: z.infer<typeof cohere>) =>
      cohereSaid(given, 1024, types),
  },
]

const titanSaid = (text: string, length: number): Said => ({
  texts: [text],
  body: { embedding: vectorOf(text, length), inputTextTokenCount: countTokens(text) },
})

/** By type where types were asked for. How many tokens there were stands in a header alone. */
function cohereSaid(given: readonly string[], length: number, types: readonly string[] | undefined): Said {
  const float = given.map((text) => vectorOf(text, length))
  const form = types
    ? { embeddings: { float }, response_type: 'embeddings_by_type' }
    : { embeddings: float, response_type: 'embeddings_floats' }
  return { texts: given, body: { id: 'emb', texts: given, ...form } }
}

const modelOf = (name: string) => models.find(({ names }) => names.test(name))

/** What is wrong with the body of POST /model/{id}/invoke; undefined when nothing is. */
export function invokeError(model: string, body: unknown): string | undefined {
  const known = modelOf(model)
  if (!known) return 'this upstream invokes models of embeddings only'
  const [issue] = known.schema.safeParse(body).error?.issues ?? []
  return (
    issue &&
    `Malformed input request: #/${issue.path.join('/')}: ${issue.message}, please reformat your input.`
  )
}

export function invoke(request: RecordedRequest, model: string, script: Script): Answer {
  const { texts: given, body } = modelOf(model)!.said(request.body as never)
  return {
    status: 200,
    headers: {
      ...serviceHeaders(request, 'application/json'),
      'x-amzn-bedrock-invocation-latency': '12',
      'x-amzn-bedrock-input-token-count': String(countTokens(given.join(' '))),
    },
    stream: false,
    frames: [JSON.stringify(script.body ?? body)],
  }
}
