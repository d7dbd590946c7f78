import { z } from 'zod'
import { field } from '#kit'
import { headerName } from './directory/header-name.ts'

/** The form of a provider's name. */
const providerName = field.text().regex(/^[a-z0-9][a-z0-9_-]*$/, {
  error: 'expected a name of lower-case letters, digits, - and _',
})

/** An entry of `providers`. */
const provider = field
  .section({
    type: field.text().optional().describe('The provider whose protocol it speaks; by default its own name.'),
    base_url: field.httpUrl().optional().describe("URL of its API; by default the provider's own."),
    api_key: field.secret().optional().describe('The API key.'),
    keys: field
      .listOf(
        field.section({
          api_key: field.secret().describe('One key of the pool.'),
          weight: field.amount().default(1).describe('Share of the calls.'),
        }),
      )
      .optional()
      .describe('A pool of keys that share the calls, instead of api_key.'),
    org_id: field
      .text()
      .optional()
      .describe('The organisation to bill, for providers that have organisations.'),
    region: field.text().optional().describe('Where it runs models, such as eu; for modules that go by it.'),
    models: field
      .listOf(field.text())
      .optional()
      .describe('Models that it serves, as names or patterns such as mycorp-*.'),
    headers: field.named(field.secret(), headerName).optional().describe('Headers to send with each call.'),
    options: field.free().optional().describe('Settings of this provider, such as api_version for azure.'),
  })
  .refine((entry) => entry.apiKey === undefined || entry.keys === undefined, {
    error: 'expected either api_key or keys, not both',
  })

/** A row of `routes`. */
const route = field.section({
  match: field.text().describe('A model name, or a pattern such as gpt-*.'),
  provider: field.text().describe('The provider for these calls.'),
  model: field.text().optional().describe("The provider's name for the model, if different."),
  priority: field
    .whole(-1_000_000, 1_000_000)
    .default(0)
    .describe('The matching rule with the highest priority is used; among equals the first.'),
})

const answers = field.section({
  max_size: field
    .size()
    .prefault('256mb')
    .describe('Largest answer of a provider, streamed or whole, decompressed; 0 for no limit.'),
  max_time: field
    .duration()
    .prefault('1h')
    .describe('Longest time from a request to the last byte of its answer; 0 for no limit.'),
})

/** The sections of service.yaml about providers: `providers`, `routes` and `answers`. */
export const sections = z.strictObject({
  providers: field.named(provider, providerName).prefault({}).describe('Providers, by name.'),
  answers: answers
    .prefault({})
    .describe("Limits of a provider's answer. An answer beyond them is a failure of the provider."),
  routes: field.listOf(route).prefault([]).describe('Which provider gets which model.'),
})

type Sections = z.output<typeof sections>
export type ProviderEntries = Sections['providers']
export type RouteEntries = Sections['routes']
