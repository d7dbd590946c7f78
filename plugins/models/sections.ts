import { z } from 'zod'
import { capabilities } from '#kernel'
import { field } from '#kit'

/** What `models` and `prices` are by. */
const pricedModel = field.text().regex(/^[^\s/]+\/\S+$/, {
  error: 'expected provider/model, such as openai/gpt-4o',
})

const usd = (what: string) => field.amount().optional().describe(`USD for a million ${what}.`)

/** An entry of `prices`. */
const price = field.section({
  input_usd_per_m: field.amount().describe('USD per million prompt tokens.'),
  output_usd_per_m: field.amount().describe('USD per million generated tokens.'),
  cached_read_usd_per_m: usd('prompt tokens read from the cache; as other input by default'),
  cache_write_5m_usd_per_m: usd(
    'prompt tokens written to the cache for 5 minutes; as other input by default',
  ),
  cache_write_1h_usd_per_m: usd('prompt tokens written to it for an hour; as those for 5 minutes by default'),
  reasoning_usd_per_m: usd('reasoning tokens; as other output by default'),
  audio_in_usd_per_m: usd('audio tokens in the prompt; as other input by default'),
  audio_out_usd_per_m: usd('generated audio tokens; as other output by default'),
  image_in_usd_per_m: usd('image tokens in the prompt; as other input by default'),
  call_usd: field.amount().optional().describe('USD per call, in addition to its tokens; none by default.'),
})

/** An entry of `models`. */
const model = field.section({
  context_window: field.whole(1, 1_000_000_000).optional().describe('Largest number of tokens of a prompt.'),
  max_output_tokens: field
    .whole(1, 1_000_000_000)
    .optional()
    .describe('Largest number of tokens of an answer.'),
  capabilities: z
    .partialRecord(field.oneOf(...capabilities), field.flag(), {
      error: (issue) => (issue.code === 'invalid_type' ? 'expected a map' : undefined),
    })
    .optional()
    .describe(`What it can do, each true or false: ${capabilities.join(', ')}.`),
})

/** The form of a tokenizer's name. */
const tokenizerName = field.text().regex(/^[a-z0-9][a-z0-9.-]*$/, {
  error: 'expected a name of lower-case letters, digits, . and -',
})

/** An entry of `tokenizers`. */
const tokenizer = field.section({
  models: field
    .listOf(field.text())
    .min(1, { error: 'expected at least one model' })
    .describe('Models that it counts for, as names or patterns such as gemma-3-*, at any provider.'),
  file: field.text().describe("A tokenizer.json in Hugging Face's format."),
  chat_template: field
    .text()
    .optional()
    .describe(
      'A chat template, or a tokenizer_config.json that has one; by default chat_template.jinja or tokenizer_config.json beside the file.',
    ),
})

/** The sections of service.yaml about models: `models`, `prices` and `tokenizers`. */
export const sections = z.strictObject({
  models: field
    .named(model, pricedModel)
    .prefault({})
    .describe(
      'Entries that replace or add to the catalogue of models, by provider/model; a model may end in *.',
    ),
  prices: field
    .named(price, pricedModel)
    .prefault({})
    .describe('Prices that replace those of the catalogue, by provider/model; a model may end in *.'),
  tokenizers: field
    .named(tokenizer, tokenizerName)
    .prefault({})
    .describe('Tokenizers that are not built in, by a name that you choose.'),
})

type Sections = z.output<typeof sections>
export type ModelEntries = Sections['models']
export type PriceEntries = Sections['prices']
export type TokenizerEntries = Sections['tokenizers']
