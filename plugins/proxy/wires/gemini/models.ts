import { z } from 'zod'
import { type Context, notFound } from '#kernel'
import { factsOf } from '../../routes/model-item.ts'
import { createModelList, type Listed } from '../../routes/model-list.ts'
import { checkAddress } from './address.ts'
import { errorOf } from './errors.ts'
import { errorBody } from './shapes.ts'

/** A model as Google lists it. */
export const googleModel = z.object({
  name: z.string(),
  version: z.string(),
  displayName: z.string(),
  description: z.string(),
  inputTokenLimit: z.int().optional(),
  outputTokenLimit: z.int().optional(),
  supportedGenerationMethods: z.array(z.string()),
})

const wire = { error: errorOf, errors: errorBody, check: checkAddress }
const mostOfPage = 1000

/** The models of this gateway as Google's clients list them: every provider's. */
export function addGeminiModelRoutes(context: Context<unknown>): void {
  const models = createModelList(context)

  context.route({
    method: 'get',
    path: '/v1beta/models',
    access: 'any',
    wire,
    summary: 'The models known by name that this key may use, in the Gemini format',
    query: z.strictObject({
      pageSize: z.coerce
        .number()
        .int()
        .min(1)
        .optional()
        .meta({ description: 'At most 1000; 50 by default.' }),
      pageToken: z.string().optional().meta({ description: 'nextPageToken of the previous page.' }),
    }),
    returns: googlePage,
    throws: [400, 404],
    handle: async ({ principal, query }) => pageOf(context, await models.all(principal), query),
  })

  context.route({
    method: 'get',
    path: '/v1beta/models/{+model}',
    access: 'any',
    wire,
    summary: 'A model that this key may use, in the Gemini format',
    params: z.strictObject({ model: z.string() }),
    returns: googleModel,
    handle: ({ params, principal }) => googleModelOf(context, models.get(params.model, principal)),
  })
}

export const googlePage = z.object({ models: z.array(googleModel), nextPageToken: z.string().optional() })

interface Page {
  readonly pageSize?: number | undefined
  readonly pageToken?: string | undefined
}

/** A page of models. A token is the place where the page begins. */
export function pageOf(
  context: Context<unknown>,
  all: readonly Listed[],
  { pageSize = 50, pageToken = '0' }: Page,
): z.infer<typeof googlePage> {
  const at = Number(pageToken)
  if (!Number.isInteger(at) || at < 0) throw notFound('There is no such page.', { param: 'pageToken' })
  const end = at + Math.min(pageSize, mostOfPage)
  return {
    models: all.slice(at, end).map((one) => googleModelOf(context, one)),
    ...(end < all.length && { nextPageToken: String(end) }),
  }
}

const methods: Readonly<Record<string, readonly string[]>> = {
  embedding: ['embedContent', 'batchEmbedContents'],
}

export function googleModelOf(
  context: Context<unknown>,
  { id, provider, model }: Listed,
): z.infer<typeof googleModel> {
  const facts = factsOf(context, provider, model)
  return {
    name: `models/${id}`,
    version: '',
    displayName: id,
    description: `${model} of ${provider}`,
    ...(facts.context_window !== null && { inputTokenLimit: facts.context_window }),
    ...(facts.max_output_tokens !== null && { outputTokenLimit: facts.max_output_tokens }),
    supportedGenerationMethods: [
      ...(methods[facts.operation ?? ''] ?? ['generateContent', 'streamGenerateContent', 'countTokens']),
    ],
  }
}
