import { z } from 'zod'
import type { Capability } from '#kernel'
import type { ModelEntry } from '../entry.ts'
import { CatalogueError, linesOf } from '../problem.ts'
import { type RateValue, tiered, usable } from './rates.ts'

const item = z.looseObject({
  litellm_provider: z.string().optional(),
  mode: z.string().optional(),
  max_input_tokens: z.number().nullish(),
  max_output_tokens: z.number().nullish(),
  deprecation_date: z.string().nullish(),
})
type Item = z.output<typeof item>

const operations: Readonly<Record<string, ModelEntry['operation']>> = {
  chat: 'chat',
  responses: 'chat',
  completion: 'completion',
  embedding: 'embedding',
}

const flags: Readonly<Record<Capability, string>> = {
  vision: 'supports_vision',
  audio_input: 'supports_audio_input',
  audio_output: 'supports_audio_output',
  video: 'supports_video_input',
  files: 'supports_pdf_input',
  tools: 'supports_function_calling',
  parallel_tools: 'supports_parallel_function_calling',
  reasoning: 'supports_reasoning',
  json_schema: 'supports_response_schema',
  prompt_cache: 'supports_prompt_caching',
  web_search: 'supports_web_search',
}

/** Whether this is the file that LiteLLM publishes as `model_prices_and_context_window.json`. */
export const isLiteLlm = (data: Readonly<Record<string, unknown>>): boolean =>
  Object.values(data).some(
    (value) => typeof value === 'object' && value !== null && 'litellm_provider' in value,
  )

/**
 * The models of LiteLLM's file whose providers are known, by `provider/model`. Names that hold a region or stand for models
 * of a size are left out: they are no names that a provider is asked for. Throws a CatalogueError when a number is none.
 */
export function fromLiteLlm(
  data: Readonly<Record<string, unknown>>,
  providers: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const models: Record<string, unknown> = {}
  const problems: string[] = []
  for (const [key, value] of Object.entries(data)) {
    const parsed = item.safeParse(value)
    const source = (value as { litellm_provider?: unknown } | null)?.litellm_provider
    const provider =
      typeof source === 'string' && Object.hasOwn(providers, source) ? providers[source] : undefined
    if (provider === undefined || typeof source !== 'string') continue
    if (!parsed.success) {
      problems.push(...linesOf(parsed.error, [key]))
      continue
    }
    const operation = operations[parsed.data.mode ?? '']
    const model = modelName(key, source, providers)
    if (operation === undefined || model === undefined) continue
    models[`${provider}/${model}`] ??= entryOf(parsed.data, operation)
  }
  if (problems.length > 0) throw new CatalogueError(problems)
  return models
}

/** The name that the provider is asked for: without the prefix by which LiteLLM routes. */
function modelName(
  key: string,
  source: string,
  providers: Readonly<Record<string, string>>,
): string | undefined {
  const prefix = key.slice(0, Math.max(0, key.indexOf('/')))
  const own = [source, source.replace(/-.*$/, ''), 'text-completion-openai']
  const isSame = Object.hasOwn(providers, prefix) && providers[prefix] === providers[source]
  const bare = isSame || own.includes(prefix) ? key.slice(prefix.length + 1) : key
  const isRegional = /^(\*|[a-z]{2}(-[a-z]+)+-\d|eu|us|global|global-standard|[\w-]+-commitment|\d+-x-)/.test(
    bare,
  )
  if (bare.includes('/') && isRegional) return undefined
  const isBracket = /-ai-(\d|default|above|embedding)/.test(bare)
  return bare === '' || isBracket || /\s/.test(bare) ? undefined : bare
}

function entryOf(given: Item, operation: ModelEntry['operation']): unknown {
  const known = Object.entries(flags).flatMap(([capability, flag]) =>
    typeof given[flag] === 'boolean' ? [[capability, given[flag]] as const] : [],
  )
  return {
    operation,
    ...(given.max_input_tokens && { context_window: given.max_input_tokens }),
    ...(given.max_output_tokens &&
      operation !== 'embedding' && { max_output_tokens: given.max_output_tokens }),
    capabilities: Object.fromEntries(known),
    ...ratesOf(given),
    ...(given.deprecation_date && { retires_on: given.deprecation_date }),
  }
}

function ratesOf(given: Item): { usd_per_m?: Record<string, RateValue> } {
  const rate = (name: string): RateValue | undefined => tiered(given[name], tiersOf(given, name))
  return usable({
    input: rate('input_cost_per_token'),
    output: rate('output_cost_per_token'),
    cached_read: rate('cache_read_input_token_cost'),
    cache_write_5m: rate('cache_creation_input_token_cost'),
    cache_write_1h: rate('cache_creation_input_token_cost_above_1hr'),
    reasoning: rate('output_cost_per_reasoning_token'),
    audio_in: rate('input_cost_per_audio_token'),
    audio_out: rate('output_cost_per_audio_token'),
    image_in: rate('input_cost_per_image_token'),
  })
}

const bands = z.array(z.looseObject({ range: z.tuple([z.number(), z.number()]) }))

/** Prices of longer prompts: under names of their own, or as a list of ranges. */
function tiersOf(given: Item, name: string): { start: number; price: unknown }[] {
  const own = new RegExp(`^${name}_above_(\\d+)k_tokens$`)
  const named = Object.entries(given).flatMap(([key, price]) => {
    const thousands = own.exec(key)?.[1]
    return thousands === undefined ? [] : [{ start: Number(thousands) * 1000, price }]
  })
  const listed = bands.safeParse(given.tiered_pricing)
  const ranged = listed.success
    ? listed.data.flatMap((band) =>
        band[name] === undefined ? [] : [{ start: band.range[0], price: band[name] }],
      )
    : []
  return [...named, ...ranged].sort((a, b) => a.start - b.start)
}
