import { z } from 'zod'
import { capabilities } from '../catalogue/entry.ts'
import { amount, flag, free, httpUrl, listOf, named, oneOf, secret, section, text, whole } from './fields.ts'

/** What a provider may be called. */
export const providerName = text().regex(/^[a-z0-9][a-z0-9_-]*$/, {
  error: 'expected a name of lower-case letters, digits, - and _',
})

/** What `models` and `prices` are by. */
export const pricedModel = text().regex(/^[^\s/]+\/\S+$/, {
  error: 'expected provider/model, such as openai/gpt-4o',
})

/** An entry of `providers`. */
export const provider = section({
  type: text().optional().describe('The provider whose protocol it speaks; its own name by default.'),
  base_url: httpUrl().optional().describe("Address of its API, instead of the provider's own."),
  api_key: secret().optional().describe('The one key to use.'),
  keys: listOf(
    section({
      api_key: secret().describe('One key of the pool.'),
      weight: amount().default(1).describe('Its share of the calls.'),
    }),
  )
    .optional()
    .describe('A pool of keys to share the calls among, instead of api_key.'),
  org_id: text().optional().describe('The organisation to bill, where the provider knows organisations.'),
  models: listOf(text())
    .optional()
    .describe('Which models it serves, as names or patterns such as mycorp-*.'),
  headers: named(secret()).optional().describe('Headers to send with each call.'),
  options: free().optional().describe('What only this provider knows, such as api_version for azure.'),
}).refine((entry) => entry.apiKey === undefined || entry.keys === undefined, {
  error: 'expected either api_key or keys, not both',
})

const configuration = {
  enabled: flag().optional().describe('Whether it runs; what its manifest says by default.'),
  config: free().optional().describe('Its settings, by its own schema.'),
  when: free().optional().describe('Which calls it applies to; all by default.'),
  isolation: oneOf('inproc', 'worker')
    .optional()
    .describe("Whether it runs in the gateway's process or in a worker; what its manifest says by default."),
  order: whole(-1_000_000, 1_000_000).optional().describe('Its place inside its stage; lower comes first.'),
  mode: oneOf('enforce', 'shadow').optional().describe('In shadow it only tells what it would do.'),
}

/** An entry of `modules`. */
export const moduleEntry = section({
  ...configuration,
  bindings: named(section(configuration)).optional().describe('Further configurations of it, by name.'),
})

/** A row of `routes`. */
export const route = section({
  match: text().describe('A model name, or a pattern such as gpt-*.'),
  provider: text().describe('The provider that gets such calls.'),
  model: text().optional().describe("The model's name there, if it is another."),
  priority: whole(-1_000_000, 1_000_000)
    .default(0)
    .describe('Of several that match, the highest counts, then the one named first.'),
})

const usd = (what: string) => amount().optional().describe(`USD for a million ${what}.`)

/** An entry of `prices`. */
export const price = section({
  input_usd_per_m: amount().describe('USD for a million prompt tokens.'),
  output_usd_per_m: amount().describe('USD for a million generated tokens.'),
  cached_read_usd_per_m: usd('prompt tokens read from the cache; as other input by default'),
  cache_write_5m_usd_per_m: usd(
    'prompt tokens written to the cache for 5 minutes; as other input by default',
  ),
  cache_write_1h_usd_per_m: usd('prompt tokens written to it for an hour; as those for 5 minutes by default'),
  reasoning_usd_per_m: usd('reasoning tokens; as other output by default'),
  audio_in_usd_per_m: usd('audio tokens in the prompt; as other input by default'),
  audio_out_usd_per_m: usd('generated audio tokens; as other output by default'),
  image_in_usd_per_m: usd('image tokens in the prompt; as other input by default'),
  call_usd: amount().optional().describe('USD for each call, beside its tokens; none by default.'),
})

/** An entry of `models`. */
export const model = section({
  context_window: whole(1, 1_000_000_000).optional().describe('Most tokens of a prompt.'),
  max_output_tokens: whole(1, 1_000_000_000).optional().describe('Most tokens of an answer.'),
  capabilities: z
    .partialRecord(oneOf(...capabilities), flag(), {
      error: (issue) => (issue.code === 'invalid_type' ? 'expected a map' : undefined),
    })
    .optional()
    .describe(`What it can do, each true or false: ${capabilities.join(', ')}.`),
})

/** What a tokenizer may be called. */
export const tokenizerName = text().regex(/^[a-z0-9][a-z0-9.-]*$/, {
  error: 'expected a name of lower-case letters, digits, . and -',
})

/** An entry of `tokenizers`. */
export const tokenizer = section({
  models: listOf(text())
    .min(1, { error: 'expected at least one model' })
    .describe('Whose texts it counts, as names or patterns such as gemma-3-*, at whatever provider.'),
  file: text().describe("A tokenizer.json in Hugging Face's format."),
  chat_template: text()
    .optional()
    .describe(
      'A chat template, or a tokenizer_config.json that has one; by default chat_template.jinja or tokenizer_config.json beside the file.',
    ),
})
