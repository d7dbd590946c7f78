import { z } from 'zod'
import { badRequest, type Provider, type Target } from '#kernel'
import { quirksReader } from '#provider'

/** How services that run Claude depart from Anthropic's own, as their manifests say it. */
const quirksSchema = z.strictObject({
  /** Addresses below the base URL, with the model in them, and in the body no more. */
  paths: z.strictObject({ message: z.string(), stream: z.string(), count: z.string() }).optional(),
  /** Stands in the body instead of the header. */
  version: z.string().optional(),
  /** The model whose tokens a check has counted, where there is no list of models. */
  check_model: z.string().optional(),
})

export type Quirks = z.infer<typeof quirksSchema>

export const quirksOf = quirksReader(quirksSchema)

/** Where a request goes; Anthropic's own path where the service has none of its own. */
export function urlOf(target: Target, what: 'message' | 'stream' | 'count'): string {
  const { provider, model } = target
  const { paths } = quirksOf(provider)
  if (!paths) return rootOf(provider) + (what === 'count' ? '/v1/messages/count_tokens' : '/v1/messages')
  if (what !== 'count' && !/^[\w.@-]+$/.test(model))
    throw badRequest(`${model} is not the name of a model.`, { param: 'model' })
  return provider.baseUrl + paths[what].replace('{model}', model)
}

/** People write the address with and without the version at its end. */
export const rootOf = ({ baseUrl }: Provider): string => baseUrl.replace(/\/v1$/, '')

/** A body as the service wants it; the address may say which model it is for. */
export function bodyFor(
  target: Target,
  body: Readonly<Record<string, unknown>>,
  what: 'message' | 'count' = 'message',
): string {
  const { paths, version } = quirksOf(target.provider)
  const { model, ...rest } = body
  return JSON.stringify({
    ...(version !== undefined && { anthropic_version: version }),
    ...(!(paths && what === 'message') && { model }),
    ...rest,
  })
}
