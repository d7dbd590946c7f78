import { beforeEach, expect, it } from 'vitest'
import { startPlayed } from '../../test/played.ts'
import { shared } from '../../test/shared.ts'
import { bedrock } from '../../test/upstream/index.ts'

const key = 'AKIDEXAMPLE00000001:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'

const played = shared(() =>
  startPlayed({ wires: [bedrock], apiKey: key }, ({ baseUrl }) => ({
    config: {
      providers: {
        bedrock: { base_url: baseUrl(), api_key: key },
      },
    },
  })),
)
beforeEach(() => played.upstream.reset())

type Fields = Record<string, unknown>

const embed = (model: string, fields: Fields = {}) =>
  played.client.embeddings
    .create({ model: `bedrock/${model}`, input: ['one two', 'three'], encoding_format: 'float', ...fields })
    .withResponse()

const cohereTexts = { texts: ['one two', 'three'], input_type: 'search_document', embedding_types: ['float'] }

it.each<[string, Fields, Fields[], number]>([
  ['amazon.titan-embed-text-v1', {}, [{ inputText: 'one two' }, { inputText: 'three' }], 1536],
  [
    'amazon.titan-embed-text-v2:0',
    { dimensions: 256, normalize: false },
    [
      { inputText: 'one two', dimensions: 256, normalize: false },
      { inputText: 'three', dimensions: 256, normalize: false },
    ],
    256,
  ],
  [
    'amazon.titan-embed-image-v1',
    { dimensions: 384 },
    [
      { inputText: 'one two', embeddingConfig: { outputEmbeddingLength: 384 } },
      { inputText: 'three', embeddingConfig: { outputEmbeddingLength: 384 } },
    ],
    384,
  ],
  [
    'us.amazon.nova-2-multimodal-embeddings-v1:0',
    { dimensions: 1024, input_type: 'search_query' },
    ['one two', 'three'].map((value) => ({
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: 'GENERIC_RETRIEVAL',
        embeddingDimension: 1024,
        text: { truncationMode: 'END', value },
      },
    })),
    1024,
  ],
  ['cohere.embed-english-v3', { truncate: 'END' }, [{ ...cohereTexts, truncate: 'END' }], 1024],
  [
    'us.cohere.embed-v4:0',
    { dimensions: 512, truncate: 'END', input_type: 'clustering' },
    [{ ...cohereTexts, input_type: 'clustering', output_dimension: 512, truncate: 'RIGHT' }],
    512,
  ],
])('%s is asked in its maker’s own form', async (model, fields, bodies, length) => {
  const { data } = await embed(model, fields)
  expect(played.upstream.requests.map(({ body }) => body)).toEqual(expect.arrayContaining(bodies))
  expect(played.upstream.requests).toHaveLength(bodies.length)
  expect(played.upstream.last().path).toBe(`/model/${encodeURIComponent(model)}/invoke`)
  expect(data.data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
    [0, length],
    [1, length],
  ])
  expect(data.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 })
})

it('vectors come in the order of their texts, however many requests it takes', async () => {
  const input = Array.from({ length: 9 }, (_, i) => `text ${i}`)
  const { data } = await embed('amazon.titan-embed-text-v2:0', { input })
  const single = await embed('amazon.titan-embed-text-v2:0', { input: 'text 7' })
  expect(data.data[7]!.embedding).toEqual(single.data.data[0]!.embedding)
})

it('what a model cannot be told is named', async () => {
  const { response } = await embed('cohere.embed-english-v3', { dimensions: 256, user: 'x' })
  expect(response.headers.get('x-params-changed')).toBe('-dimensions, -user')
})

it('tokens, and models that embed nothing, are refused by name', async () => {
  await expect(embed('cohere.embed-v4:0', { input: [1, 2] })).rejects.toMatchObject({ param: 'input' })
  await expect(embed('amazon.nova-pro-v1:0')).rejects.toMatchObject({ status: 400, param: 'model' })
  expect(played.upstream.requests).toHaveLength(0)
})

it('a failure of one of several requests is the call’s', async () => {
  played.upstream.reply({ text: 'three' }, { status: 429 })
  await expect(embed('amazon.titan-embed-text-v2:0')).rejects.toMatchObject({ status: 429 })
})
