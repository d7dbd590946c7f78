import { randomBytes } from 'node:crypto'
import { getSupportedRegionCodes } from 'awesome-phonenumber'
import { z } from 'zod'
import { type Call, type Detection, defineModule, type Span } from '#kernel'
import {
  CleanTexts,
  type Finder,
  findAll,
  lookBehind,
  type PersonalFinding,
  patternFinder,
  patternSchema,
  personalFinders,
  personalTypes,
  personalReach as reach,
  requestTexts,
  spanFor,
  tagged,
  toldNames,
} from '#kit'
import { takenIn } from './taken.ts'
import { longest, Vault } from './vault.ts'

const custom = z.strictObject({
  type: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,30}$/)
    .meta({ title: 'Type', description: 'Name of the kind; placeholders use it.' }),
  pattern: patternSchema.min(1).max(1000).meta({
    title: 'Pattern',
    description: 'RE2 expression. Of longer matches, the first 200 characters count.',
  }),
})

const supported = new Set(getSupportedRegionCodes())
const country = z.string().refine((code) => supported.has(code), 'must be a country code such as US')

export default defineModule({
  settings: z.strictObject({
    entities: z
      .array(z.enum(personalTypes))
      .default([...personalTypes])
      .meta({ title: 'Entities', description: 'Kinds of personal data to mask.' }),
    mode: z.enum(['pseudonym', 'redact']).default('pseudonym').meta({
      title: 'Mode',
      description: 'Use placeholders that are restored for the client, or permanent marks.',
    }),
    custom: z
      .array(custom)
      .max(100)
      .default([])
      .meta({ title: 'Custom', description: 'Further kinds, each with a pattern.' }),
    phone_countries: z.array(country).default(['US']).meta({
      title: 'Countries',
      description:
        'Countries whose phone numbers are found without a country code. Numbers with a country code are always found.',
    }),
    replies: z.boolean().default(false).meta({
      title: 'Replies',
      description:
        'Whether personal data that the model itself writes is redacted too. Streams are then delayed by about 280 characters.',
    }),
  }),

  setup({ settings, slot, memory }) {
    const { entities, custom, phone_countries } = settings
    const finders = [...custom.map(customFinder), ...personalFinders(entities, phone_countries)]
    if (finders.length === 0) return {}

    const key = memory('key', () => randomBytes(32).toString('hex'))
    const vault = slot<{ of?: Vault }>(() => ({}))
    const vaultOf = (call: Call): Vault => {
      const held = vault(call)
      held.of ??= new Vault(`${key} ${call.principal.userId ?? call.principal.keyId}`, takenIn(call))
      return held.of
    }
    const nameFinders = settings.entities.includes('name') ? personalFinders(['name'], []) : []
    const told = slot<{ finder?: Finder<PersonalFinding> | undefined }>(() => ({}))
    /** Texts without any personal data that follows from themselves; names that another text tells are another matter. */
    const clean = new CleanTexts()
    const toldIn = (call: Call): Finder<PersonalFinding> | undefined => {
      const held = told(call)
      if (!('finder' in held)) {
        const texts = requestTexts(call.request).flatMap(({ text }) => (clean.has(text, call) ? [] : [text]))
        held.finder = toldNames(texts, nameFinders)
      }
      return held.finder
    }
    const foundIn = (text: string, call: Call, from: number): readonly PersonalFinding[] => {
      const names = toldIn(call)
      const search = (): PersonalFinding[] => findAll(names ? [names, ...finders] : finders, text, from)
      if (from > 0) return search()
      return names && clean.has(text, call) ? findAll([names], text) : clean.search(text, call, search)
    }
    const pseudonyms = settings.mode === 'pseudonym'

    const request: Detection = {
      reach,
      context: lookBehind,
      verdict: 'masked',
      scan: (text, _place, call, from) =>
        foundIn(text, call, from).map((found) => {
          if (!pseudonyms) return marked(found)
          const { start, end, type: label } = found
          const replacement = vaultOf(call).placeholderFor(label, text.slice(start, end))
          return { start, end, label, action: 'replace', replacement }
        }),
    }
    const reply: Detection = {
      reach,
      context: lookBehind,
      scan: (text, _place, _call, from) => findAll(finders, text, from).map(marked),
    }
    const reveal: Detection = {
      reach: longest,
      verdict: 'restored',
      applies: (call) => vault(call).of?.isEmpty === false,
      open: (text, call, from) => vaultOf(call).openFrom(text, from),
      scan(text, _place, call, from) {
        const held = vaultOf(call)
        return findAll([(part: string, at: number) => held.find(part, at)], text, from).map(
          ({ value, ...span }): Span => ({ ...span, action: 'replace', replacement: value }),
        )
      },
    }
    return {
      pure: true,
      detect: { request, ...(settings.replies && { reply }) },
      ...(pseudonyms && { reveal }),
    }
  },
})

const customFinder = ({ type, pattern }: z.infer<typeof custom>): Finder<PersonalFinding> =>
  tagged(patternFinder(pattern, 200), { type })

const marked = (found: PersonalFinding): Span => spanFor(found, found.type, 'redact')
