import { z } from 'zod'
import { type Call, type Detection, defineModule } from '#kernel'
import {
  CleanTexts,
  lookBehind,
  matchesWithinWord,
  patternSchema,
  type SearchBudget,
  type Secret,
  SecretSearch,
  secretOpenFrom,
  secretReach,
  spanFor,
  usualSecretLength,
} from '#kit'

const action = z.enum(['block', 'redact', 'warn', 'off'])
type Action = z.infer<typeof action>

const custom = z.strictObject({
  label: z
    .string()
    .regex(/^\w{1,40}$/)
    .meta({ title: 'Label', description: 'Name in traces and marks.' }),
  pattern: patternSchema.min(1).max(1000).meta({
    title: 'Pattern',
    description: 'RE2 expression. Of longer matches, the first 500 characters count.',
  }),
})

/** Milliseconds that searching all texts of a call may take. Ordinary text takes a thousandth of it for 10 KB. */
const budgetMs = 1000

export default defineModule({
  settings: z.strictObject({
    request: action.default('block').meta({
      title: 'Requests',
      description:
        'What happens to a secret in a request. A secret that passes with a warning is stored in traces.',
    }),
    response: action.default('redact').meta({
      title: 'Answers',
      description:
        'What happens to a secret in an answer. A secret that passes with a warning is stored in traces.',
    }),
    entropy: z.enum(['named', 'any', 'off']).default('named').meta({
      title: 'Random text',
      description:
        'Which random values are secrets: those with a telling name (`token = …`), all of 24 to 128 characters, or none.',
    }),
    custom: z.array(custom).max(100).default([]).meta({
      title: 'Custom',
      description: 'Further patterns to look for.',
    }),
    allow: z.array(z.string().min(1)).max(1000).default([]).meta({
      title: 'Allowed',
      description: 'Exact values that are not secrets, such as examples and public keys.',
    }),
  }),

  setup({ settings, report, slot }) {
    const { request, response, entropy, custom } = settings
    if (request === 'off' && response === 'off') return {}
    const search = new SecretSearch({ custom, entropy })
    const inAddresses = request === 'off' ? undefined : new SecretSearch({ custom, entropy: 'off' })
    const held = custom.every(matchesWithinWord) ? 0 : usualSecretLength
    const allowed = new Set(settings.allow)
    const budget = slot<SearchBudget>(() => ({ ms: budgetMs }))

    const clean = new CleanTexts()
    /** Random values in addresses, and what signs them, are the way to one picture or file. */
    const secretsInAddress = (text: string, call: Call): readonly Secret[] =>
      signature.test(text)
        ? []
        : inAddresses!
            .secretsIn(text, 0, budget(call))
            .filter(({ label, start, end }) => label !== 'jwt' && !allowed.has(text.slice(start, end)))
    const secretsIn = (text: string, call: Call, from: number): readonly Secret[] => {
      const found = search.secretsIn(text, from, budget(call))
      return allowed.size === 0
        ? found
        : found.filter(({ start, end }) => !allowed.has(text.slice(start, end)))
    }
    /** From its beginning on, a text has what it had before. */
    const secretsFrom = (text: string, call: Call, from: number): readonly Secret[] =>
      from === 0 ? clean.search(text, call, () => secretsIn(text, call, 0)) : secretsIn(text, call, from)
    const detection = (wanted: Exclude<Action, 'off'>): Detection => ({
      reach: secretReach,
      context: 2 * usualSecretLength + lookBehind,
      refusal: 'The content was refused: it contains a credential. Remove it, and consider it disclosed.',
      addresses: true,
      scan: (text, { kind }, call, from) =>
        (kind === 'address' ? secretsInAddress(text, call) : secretsFrom(text, call, from)).map((secret) =>
          spanFor(secret, secret.label, wanted),
        ),
      open: (text, _call, from) => secretOpenFrom(text, from, held),
      found: ({ label }, { direction }) => report(verbs[wanted], `${label} in a ${direction}`),
    })
    return {
      detect: {
        ...(request !== 'off' && { request: detection(request) }),
        ...(response !== 'off' && { reply: detection(response) }),
      },
    }
  },
})

/** A pair of the query of an address that a store of files has signed. */
const signature = /^(?:x-amz-|x-goog-|awsaccesskeyid=|googleaccessid=|key-pair-id=|signature=|sig=)/i

const verbs = { block: 'blocked', redact: 'redacted', warn: 'warned' } as const
