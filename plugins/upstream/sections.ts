import { z } from 'zod'
import { field } from '#kit'

/** What a provider may be called. */
const providerName = field.text().regex(/^[a-z0-9][a-z0-9_-]*$/, {
  error: 'expected a name of lower-case letters, digits, - and _',
})

/** An entry of `providers`. */
const provider = field
  .section({
    type: field.text().optional().describe('The provider whose protocol it speaks; its own name by default.'),
    base_url: field.httpUrl().optional().describe("Address of its API, instead of the provider's own."),
    api_key: field.secret().optional().describe('The one key to use.'),
    keys: field
      .listOf(
        field.section({
          api_key: field.secret().describe('One key of the pool.'),
          weight: field.amount().default(1).describe('Its share of the calls.'),
        }),
      )
      .optional()
      .describe('A pool of keys to share the calls among, instead of api_key.'),
    org_id: field
      .text()
      .optional()
      .describe('The organisation to bill, where the provider knows organisations.'),
    models: field
      .listOf(field.text())
      .optional()
      .describe('Which models it serves, as names or patterns such as mycorp-*.'),
    headers: field.named(field.secret()).optional().describe('Headers to send with each call.'),
    options: field
      .free()
      .optional()
      .describe('What only this provider knows, such as api_version for azure.'),
  })
  .refine((entry) => entry.apiKey === undefined || entry.keys === undefined, {
    error: 'expected either api_key or keys, not both',
  })

/** A row of `routes`. */
const route = field.section({
  match: field.text().describe('A model name, or a pattern such as gpt-*.'),
  provider: field.text().describe('The provider that gets such calls.'),
  model: field.text().optional().describe("The model's name there, if it is another."),
  priority: field
    .whole(-1_000_000, 1_000_000)
    .default(0)
    .describe('Of several that match, the highest counts, then the one named first.'),
})

const answers = field.section({
  max_size: field
    .size()
    .prefault('256mb')
    .describe('Largest answer of a provider, streamed or whole, unpacked; 0 for no bound.'),
  max_time: field
    .duration()
    .prefault('1h')
    .describe('How long an answer of a provider may take to its last byte; 0 for no bound.'),
})

/** What service.yaml says of providers: `providers`, `routes` and `answers`. */
export const sections = z.strictObject({
  providers: field.named(provider, providerName).prefault({}).describe('Upstream providers, by name.'),
  answers: answers
    .prefault({})
    .describe('What an answer of a provider may come to before it is a failure of the provider.'),
  routes: field.listOf(route).prefault([]).describe('Which provider gets which model.'),
})

type Sections = z.output<typeof sections>
export type ProviderEntries = Sections['providers']
export type RouteEntries = Sections['routes']
