import { z } from 'zod'
import { type Call, type Detection, defineModule } from '#kernel'
import { audienceOf, audiences } from './audience.ts'
import { blocked, category, definition, type Search, searchFor, undefinedIn } from './categories.ts'
import { policies, underPolicy } from './policy.ts'

const audience = z.enum(audiences)
const audienceBy = z.record(z.string().min(1).max(256), audience).default({})
const text = z.string().max(10_000)

export default defineModule({
  settings: z
    .strictObject({
      default_audience: audience.default('adult').meta({
        title: 'Default audience',
        description: 'The audience of calls whose user and key have none.',
      }),
      users: audienceBy.meta({ title: 'Users', description: 'Audiences by user id.' }),
      keys: audienceBy.meta({
        title: 'Keys',
        description: 'Audiences by key id. Of the user, the key and X-Audience, the strictest counts.',
      }),
      categories: blocked.prefault({}).meta({
        title: 'Categories',
        description: 'What is blocked for each audience, in requests and answers.',
      }),
      definitions: z.record(category, definition).default({}).meta({
        title: 'Definitions',
        description: 'Words and patterns of further categories, or in addition to those that are built in.',
      }),
      policies: z
        .strictObject({
          child: text.default(policies.child).meta({ title: 'Child', description: 'For a child.' }),
          teen: text.default(policies.teen).meta({ title: 'Teen', description: 'For a teenager.' }),
          adult: text.default(policies.adult).meta({ title: 'Adult', description: 'For an adult.' }),
        })
        .prefault({})
        .meta({
          title: 'Policies',
          description: 'What is added to the system message for each audience; an empty text adds nothing.',
        }),
    })
    .superRefine((settings, context) => {
      for (const name of undefinedIn(settings.categories, settings.definitions))
        context.addIssue({
          code: 'custom',
          path: ['categories'],
          message: `nothing defines ${name}: add its words to definitions`,
        })
    }),

  setup({ settings }) {
    const { categories, definitions } = settings
    const searches = Object.fromEntries(
      audiences.map((who) => [who, searchFor(who, categories, definitions)]),
    ) as Record<(typeof audiences)[number], Search | undefined>
    const searchOf = (call: Call): Search | undefined => searches[audienceOf(call, settings)]
    const detection: Detection = {
      reach: Math.max(1, ...audiences.map((who) => searches[who]?.reach ?? 0)),
      context: 2,
      refusal: 'The content is not meant for the audience of this call.',
      applies: (call) => searchOf(call) !== undefined,
      scan: (text, _place, call, from) =>
        (searchOf(call)?.find(text, from) ?? []).map((found) => ({ ...found, action: 'block' as const })),
      open: (text, call, from) => searchOf(call)?.open(text, from) ?? text.length,
    }
    return {
      pure: true,
      detect: { request: detection, reply: detection },
      request(call) {
        const who = audienceOf(call, settings)
        return underPolicy(call, settings.policies[who])
      },
    }
  },
})
