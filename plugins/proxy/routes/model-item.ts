import { z } from 'zod'
import { type Context, ModelCatalogue, type PriceDescription, Pricing } from '#kernel'

const usdPerM = z.number().nullable()

/** The known facts of a model, for every listing. Null is unknown, never a guess. */
export const modelFacts = z.object({
  operation: z.string().nullable().meta({ description: 'chat, completion or embedding.' }),
  context_window: z.int().nullable().meta({ description: 'Largest number of tokens of a prompt.' }),
  max_output_tokens: z.int().nullable().meta({ description: 'Largest number of tokens of an answer.' }),
  capabilities: z
    .record(z.string(), z.boolean())
    .meta({ description: 'Capabilities that are known to be present or absent. Others are unknown.' }),
  retires_on: z.string().nullable().meta({ description: 'First day on which it is no longer available.' }),
  pricing: z
    .object({
      input_usd_per_m: usdPerM,
      output_usd_per_m: usdPerM,
      cached_read_usd_per_m: usdPerM,
      cache_write_5m_usd_per_m: usdPerM,
      cache_write_1h_usd_per_m: usdPerM,
      reasoning_usd_per_m: usdPerM,
      audio_in_usd_per_m: usdPerM,
      audio_out_usd_per_m: usdPerM,
      image_in_usd_per_m: usdPerM,
      call_usd: z.number().nullable(),
      long_prompt: z
        .object({ from_tokens: z.int(), input_usd_per_m: usdPerM, output_usd_per_m: usdPerM })
        .nullable()
        .meta({ description: 'Prices for prompts longer than this.' }),
      source: z.enum(['catalogue', 'override']),
      origin: z.string().meta({ description: 'Source and date of the prices.' }),
    })
    .nullable()
    .meta({ description: 'Null: the price is unknown, and so is the cost of calls.' }),
  origin: z.string().nullable().meta({ description: 'Source of the limits and capabilities.' }),
})

type Facts = z.infer<typeof modelFacts>
type Rate = PriceDescription['rates']['input']

/** The facts of a provider's model in the catalogue and the prices. */
export function factsOf({ use }: Context<unknown>, provider: string, model: string): Facts {
  const known = use(ModelCatalogue).describe(provider, model)
  const price = use(Pricing).describe(provider, model)
  return {
    operation: known?.operation ?? null,
    context_window: known?.contextWindow ?? price?.contextWindow ?? null,
    max_output_tokens: known?.maxOutputTokens ?? null,
    capabilities: known?.capabilities ?? {},
    retires_on: known?.retiresOn ?? null,
    pricing: price ? pricingOf(price) : null,
    origin: known?.origin ?? null,
  }
}

function pricingOf({ rates, source, origin }: PriceDescription): NonNullable<Facts['pricing']> {
  const longest = [rates.input, rates.output].flatMap(startsOf).at(0)
  return {
    input_usd_per_m: baseOf(rates.input),
    output_usd_per_m: baseOf(rates.output),
    cached_read_usd_per_m: baseOf(rates.cachedRead),
    cache_write_5m_usd_per_m: baseOf(rates.cacheWrite5m),
    cache_write_1h_usd_per_m: baseOf(rates.cacheWrite1h),
    reasoning_usd_per_m: baseOf(rates.reasoning),
    audio_in_usd_per_m: baseOf(rates.audioIn),
    audio_out_usd_per_m: baseOf(rates.audioOut),
    image_in_usd_per_m: baseOf(rates.imageIn),
    call_usd: rates.callUsd ?? null,
    long_prompt:
      longest === undefined
        ? null
        : {
            from_tokens: longest,
            input_usd_per_m: priceFrom(rates.input, longest),
            output_usd_per_m: priceFrom(rates.output, longest),
          },
    source,
    origin,
  }
}

const baseOf = (rate: Rate): number | null =>
  rate === undefined ? null : typeof rate === 'number' ? rate : rate.base

const startsOf = (rate: Rate): number[] =>
  typeof rate === 'object' ? rate.tiers.map(({ start }) => start) : []

/** The price of a token where the prompt is one token longer than this. */
function priceFrom(rate: Rate, tokens: number): number | null {
  if (typeof rate !== 'object') return rate ?? null
  return rate.tiers.findLast(({ start }) => start <= tokens)?.price ?? rate.base
}
