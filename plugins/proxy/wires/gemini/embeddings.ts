import { type Asking, badRequest, type Completion, type ModelRequest, type Wire } from '#kernel'
import { checkAddress } from './address.ts'
import { errorOf } from './errors.ts'
import { modelOf } from './request.ts'
import { batchBody, checked, type EmbedBody, embedBody } from './schema.ts'
import { embedding, embeddings, errorBody } from './shapes.ts'

const about = { operation: 'embedding', errors: errorBody, check: checkAddress } as const

/** One text, or a list of them. */
export const embedWires: readonly Wire[] = [
  embedWire('embedContent', 'Embedding of one content in the Gemini format', embedBody, (body, model) =>
    requestOf([checked(embedBody, body)], model, (texts) => texts[0]!),
  ),
  embedWire(
    'batchEmbedContents',
    'Embeddings of several contents in the Gemini format',
    batchBody,
    (body, model) => requestOf(checked(batchBody, body).requests, model, (texts) => texts),
  ),
]

function embedWire(
  method: string,
  summary: string,
  body: Wire['body'],
  read: (body: unknown, model: string) => ModelRequest,
): Wire {
  return {
    ...about,
    id: 'gemini',
    path: `/v1beta/models/{+model}:${method}`,
    aliases: [`/v1/models/{+model}:${method}`],
    summary,
    body,
    answer: method === 'embedContent' ? embedding : embeddings,
    decode: (given, _: Asking, { params }) => read(given, modelOf(params.model!)),
    encode: (answer) => (method === 'embedContent' ? oneOf(answer) : allOf(answer)),
    encoder() {
      throw new Error('embeddings are not streamed')
    },
    error: errorOf,
  }
}

function requestOf(
  requests: readonly EmbedBody[],
  model: string,
  inputOf: (texts: string[]) => string | string[],
): ModelRequest {
  const [first] = requests
  const texts = requests.map((request, i) => {
    const at = requests.length > 1 ? `requests[${i}].` : ''
    const named = request.model?.replace(/^models\//, '')
    if (named !== undefined && named !== model)
      refuse(`${at}model`, 'is another model than the address names')
    for (const field of ['taskType', 'title', 'outputDimensionality'] as const)
      if ((request[field] ?? null) !== (first![field] ?? null))
        refuse(`${at}${field}`, 'all texts of a request are embedded in one way')
    return textOf(request, at)
  })
  const { taskType, title, outputDimensionality } = first!
  return {
    model,
    input: inputOf(texts),
    ...(outputDimensionality && { dimensions: outputDimensionality }),
    ...(taskType && taskType !== 'TASK_TYPE_UNSPECIFIED' && { task_type: taskType }),
    ...(title && { title }),
  }
}

function textOf({ content }: EmbedBody, at: string): string {
  return content.parts
    .map(({ text }, n) => text ?? refuse(`${at}content.parts[${n}]`, 'only texts are embedded here'))
    .join('')
}

function refuse(param: string, why: string): never {
  throw badRequest(`${param}: ${why}.`, { param })
}

interface Vector {
  readonly index?: number
  readonly embedding?: readonly number[]
}

const vectorsOf = ({ data = [] }: Completion): { values: readonly number[] }[] =>
  (data as readonly Vector[])
    .toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0))
    .map(({ embedding = [] }) => ({ values: embedding }))

const oneOf = (answer: Completion): object => ({ embedding: vectorsOf(answer)[0], ...usageOf(answer) })

const allOf = (answer: Completion): object => ({ embeddings: vectorsOf(answer), ...usageOf(answer) })

const usageOf = ({ usage }: Completion): object =>
  usage
    ? { usageMetadata: { promptTokenCount: usage.prompt_tokens, totalTokenCount: usage.prompt_tokens } }
    : {}
