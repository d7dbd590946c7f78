import { z } from 'zod'
import { type Context, kernelServices, ModelCatalogue } from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import { googleModel, googleModelOf, googlePage } from '../wires/gemini/models.ts'
import { factsOf, modelFacts } from './model-item.ts'
import { createModelList, type Listed } from './model-list.ts'

const modelShape = modelFacts.extend({
  id: z.string(),
  object: z.literal('model'),
  created: z.int().meta({ description: 'Start of this gateway in seconds since the epoch.' }),
  owned_by: z.string().meta({ description: 'The provider that gets calls for this model.' }),
})

const item = modelFacts.extend({
  id: z.string().meta({ description: 'The name to request.' }),
  provider: z.string(),
  model: z.string().meta({ description: "The provider's name for the model." }),
  alias: z.boolean().meta({ description: 'Whether this is an alias of a model.' }),
})

const catalogueState = z.object({
  origins: z
    .array(z.object({ origin: z.string(), models: z.int() }))
    .meta({ description: 'Data sources in use, highest precedence first.' }),
  problem: z.string().nullable().meta({ description: 'Why a loaded catalogue is not in use.' }),
})

/** Google's newer clients ask at the addresses of OpenAI's: the header of their key tells them apart. */
const isGoogles = (headers: Readonly<Record<string, unknown>>): boolean =>
  headers['x-goog-api-key'] !== undefined

/** The models that can be asked for: as OpenAI's clients list them, and for operators. */
export function addModelRoutes(context: Context<unknown>): void {
  const { route, use } = context
  const models = createModelList(context)

  const described = ({ id, provider, model }: Listed): z.infer<typeof modelShape> => ({
    id,
    object: 'model',
    created: Math.floor(use(kernelServices.runtime).startedAt / 1000),
    owned_by: provider,
    ...factsOf(context, provider, model),
  })

  route({
    method: 'get',
    path: '/v1/models',
    access: 'any',
    summary: 'The models known by name that this key may use; providers may serve more',
    returns: z.union([z.object({ object: z.literal('list'), data: z.array(modelShape) }), googlePage]),
    async handle({ principal, headers }) {
      const all = await models.all(principal)
      if (isGoogles(headers)) return { models: all.map((one) => googleModelOf(context, one)) }
      return { object: 'list' as const, data: all.map(described) }
    },
  })

  route({
    method: 'get',
    path: '/v1/models/{+id}',
    access: 'any',
    summary: 'A model that this key may use, and the provider that gets its calls',
    params: z.strictObject({ id: z.string() }),
    returns: z.union([modelShape, googleModel]),
    handle({ params, principal, headers }) {
      const model = models.get(params.id, principal)
      return isGoogles(headers) ? googleModelOf(context, model) : described(model)
    },
  })

  route({
    method: 'get',
    path: '/api/proxy/models',
    access: 'any',
    summary: 'The models that this key may use, with limits, capabilities and prices',
    query: listQuery.extend({
      provider: z.string().optional().meta({ description: 'Only models of this provider.' }),
      capability: z
        .string()
        .optional()
        .meta({ description: 'Only models known to have this capability, such as vision.' }),
    }),
    returns: listOf('models', item).extend({ catalogue: catalogueState }),
    async handle({ principal, query }) {
      const all = (await models.all(principal))
        .filter(({ provider }) => query.provider === undefined || provider === query.provider)
        .map((entry) => ({ ...entry, ...factsOf(context, entry.provider, entry.model) }))
        .filter(({ capabilities }) => query.capability === undefined || capabilities[query.capability])
      const page = pageOf(all, query, ({ id, provider }) => `${id} ${provider}`)
      return { ...listed('models', page, query), catalogue: state() }
    },
  })

  route({
    method: 'post',
    path: '/api/proxy/models/rescan',
    access: 'admin',
    summary: 'Load the catalogue of models again from the data folder, for example after catalogue update',
    returns: catalogueState,
    async handle() {
      await use(ModelCatalogue).rescan()
      return state()
    },
  })

  const state = (): z.infer<typeof catalogueState> => {
    const { origins, problem } = use(ModelCatalogue)
    return { origins: [...origins], problem: problem ?? null }
  }
}
