import { z } from 'zod'
import type { ModelEntry } from '../entry.ts'
import { CatalogueError, linesOf } from '../problem.ts'
import { tiered, usable } from './rates.ts'

const rates = z.object({
  input: z.number().optional(),
  output: z.number().optional(),
  reasoning: z.number().optional(),
  cache_read: z.number().optional(),
  cache_write: z.number().optional(),
  input_audio: z.number().optional(),
  output_audio: z.number().optional(),
})

const model = z.looseObject({
  id: z.string(),
  attachment: z.boolean().optional(),
  reasoning: z.boolean().optional(),
  tool_call: z.boolean().optional(),
  structured_output: z.boolean().optional(),
  modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }).optional(),
  cost: rates.extend({ context_over_200k: rates.optional() }).optional(),
  limit: z.looseObject({ context: z.number().optional(), output: z.number().optional() }).optional(),
})
type Model = z.output<typeof model>

const provider = z.looseObject({ models: z.record(z.string(), z.unknown()) })

/** Whether this is the file that models.dev publishes as `api.json`. */
export const isModelsDev = (data: Readonly<Record<string, unknown>>): boolean =>
  Object.values(data).some((value) => provider.safeParse(value).success)

/** The models of models.dev whose providers are known, by `provider/model`. Throws a CatalogueError for broken ones. */
export function fromModelsDev(
  data: Readonly<Record<string, unknown>>,
  providers: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const models: Record<string, unknown> = {}
  const problems: string[] = []
  for (const [source, value] of Object.entries(data)) {
    const name = Object.hasOwn(providers, source) ? providers[source] : undefined
    if (name === undefined) continue
    const listed = provider.safeParse(value)
    if (!listed.success) problems.push(...linesOf(listed.error, [source]))
    for (const [id, raw] of Object.entries(listed.data?.models ?? {})) {
      const parsed = model.safeParse(raw)
      if (parsed.success) models[`${name}/${parsed.data.id}`] ??= entryOf(parsed.data)
      else problems.push(...linesOf(parsed.error, [source, id]))
    }
  }
  if (problems.length > 0) throw new CatalogueError(problems)
  return models
}

function entryOf(given: Model): unknown {
  const { limit, modalities, cost } = given
  const isEmbedding = given.id.includes('embed')
  const operation: ModelEntry['operation'] = isEmbedding ? 'embedding' : 'chat'
  const known = {
    vision: modalities?.input.includes('image'),
    audio_input: modalities?.input.includes('audio'),
    audio_output: modalities?.output.includes('audio'),
    video: modalities?.input.includes('video'),
    files: modalities ? modalities.input.includes('pdf') : given.attachment,
    tools: given.tool_call,
    reasoning: given.reasoning,
    json_schema: given.structured_output,
    prompt_cache: cost?.cache_read === undefined ? undefined : true,
  }
  return {
    operation,
    ...(limit?.context && { context_window: limit.context }),
    ...(limit?.output && !isEmbedding && { max_output_tokens: limit.output }),
    capabilities: Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)),
    ...ratesOf(cost),
  }
}

/** Its prices are those of a million tokens already. */
function ratesOf(cost: Model['cost']) {
  const each = (usd: number | undefined) => (usd === undefined ? undefined : usd / 1e6)
  const rate = (name: keyof z.output<typeof rates>) =>
    tiered(each(cost?.[name]), [{ start: 200_000, price: each(cost?.context_over_200k?.[name]) }])
  return usable({
    input: rate('input'),
    output: rate('output'),
    cached_read: rate('cache_read'),
    cache_write_5m: rate('cache_write'),
    reasoning: rate('reasoning'),
    audio_in: rate('input_audio'),
    audio_out: rate('output_audio'),
  })
}
