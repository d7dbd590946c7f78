import { badRequest, type ModelRequest } from '#kernel'
import { baseOf } from './models.ts'

type Fields = Readonly<Record<string, unknown>>

interface Asked {
  readonly texts: readonly string[]
  readonly request: ModelRequest
}

/** How a maker's models are asked for embeddings; each has a form of its own. */
export interface Family {
  readonly pattern: RegExp
  /** Texts of a request. */
  readonly most: number
  /** The fields of a request that it reads beside the input. */
  readonly reads: readonly string[]
  body(asked: Asked): Fields
}

/** From the user guides' pages on the parameters of embedding models; first match counts. */
const families: readonly Family[] = [
  {
    pattern: /^amazon\.titan-embed-image/,
    most: 1,
    reads: ['dimensions'],
    body: ({ texts: [inputText], request: { dimensions } }) => ({
      inputText,
      ...(isSaid(dimensions) && { embeddingConfig: { outputEmbeddingLength: dimensions } }),
    }),
  },
  {
    pattern: /^amazon\.titan-embed-text-v2/,
    most: 1,
    reads: ['dimensions', 'normalize'],
    body: ({ texts: [inputText], request: { dimensions, normalize } }) => ({
      inputText,
      ...(isSaid(dimensions) && { dimensions }),
      ...(isSaid(normalize) && { normalize }),
    }),
  },
  {
    pattern: /^amazon\.titan-embed/,
    most: 1,
    reads: [],
    body: ({ texts: [inputText] }) => ({ inputText }),
  },
  {
    pattern: /^amazon\.nova-.*embed/,
    most: 1,
    reads: ['dimensions', 'input_type', 'truncate'],
    body: ({ texts: [value], request: { dimensions, input_type, truncate = 'END' } }) => ({
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: purposes.get(String(input_type)) ?? input_type ?? 'GENERIC_INDEX',
        ...(isSaid(dimensions) && { embeddingDimension: dimensions }),
        text: { truncationMode: truncate, value },
      },
    }),
  },
  {
    pattern: /^cohere\.embed-v4/,
    most: 96,
    reads: ['dimensions', 'input_type', 'truncate'],
    body: ({ request: { dimensions, truncate, ...request }, ...asked }) => ({
      ...cohereBody({ ...asked, request }),
      ...(isSaid(dimensions) && { output_dimension: dimensions }),
      ...(isSaid(truncate) && { truncate: sides.get(String(truncate)) ?? truncate }),
    }),
  },
  {
    pattern: /^cohere\.embed/,
    most: 96,
    reads: ['input_type', 'truncate'],
    body: (asked) => {
      const { truncate } = asked.request
      return { ...cohereBody(asked), ...(isSaid(truncate) && { truncate }) }
    },
  },
]

export const isSaid = (value: unknown): boolean => value !== undefined && value !== null

/** The service requires the purpose of embeddings: by default, documents to be found. */
const cohereBody = ({ texts, request: { input_type = 'search_document' } }: Asked): Fields => ({
  texts,
  input_type,
  embedding_types: ['float'],
})

/** Cohere's words for what embeddings are for, as Nova has them. */
const purposes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    search_document: 'GENERIC_INDEX',
    search_query: 'GENERIC_RETRIEVAL',
    classification: 'CLASSIFICATION',
    clustering: 'CLUSTERING',
  }),
)

/** The side that is cut, as the newest model of Cohere's calls it here. */
const sides: ReadonlyMap<string, string> = new Map(Object.entries({ START: 'LEFT', END: 'RIGHT' }))

/** Throws a bad request for a model of which nothing is known. */
export function familyOf(model: string): Family {
  const name = baseOf(model)
  const family = families.find(({ pattern }) => pattern.test(name))
  if (family) return family
  throw badRequest(`${model} is not a Bedrock model with supported embeddings.`, { param: 'model' })
}
