import { z } from 'zod'
import { type Detection, defineModule, type Span } from '#kernel'
import { spanFor } from '#kit'
import { wordTest } from './matcher.ts'
import { wordCategories } from './words.ts'
import { type FoundWord, longest, openFrom, wordsIn } from './words-in.ts'

const action = z.enum(['block', 'redact', 'flag', 'off'])
type Action = z.infer<typeof action>

const word = z
  .string()
  .trim()
  .regex(/^\S{2,60}$/, 'must be one word of 2 to 60 characters')

export default defineModule({
  settings: z.strictObject({
    request: action.default('block').meta({
      title: 'Requests',
      description:
        'What happens to a request with such a word: refused, the word replaced by a mark, told in the trace, or nothing.',
    }),
    response: action.default('redact').meta({
      title: 'Answers',
      description: 'What happens to an answer with such a word.',
    }),
    categories: z
      .array(z.enum(wordCategories))
      .min(1)
      .default([...wordCategories])
      .meta({
        title: 'Categories',
        description:
          'What is looked for. Other categories of abuse cannot be told from words, and are not scored.',
      }),
    words: z.array(word).max(5000).default([]).meta({
      title: 'Words',
      description: 'Further words that count as profanity, in any spelling that the module sees through.',
    }),
    allow: z.array(word).max(5000).default([]).meta({
      title: 'Allowed',
      description: 'Words that are let through, such as names.',
    }),
  }),

  async setup({ settings, report }) {
    const { request, response, categories } = settings
    if (request === 'off' && response === 'off') return {}
    const test = await wordTest(categories, settings.words, settings.allow)
    const detection = (wanted: Exclude<Action, 'off'>): Detection => ({
      reach: longest,
      context: 2,
      refusal: 'The content was refused: it has abusive words.',
      applies: ({ operation }) => operation !== 'embedding',
      scan: (text, { kind }, _call, from) =>
        kind === 'parameter' ? [] : wordsIn(text, from, test).map((found) => spanOf(found, wanted)),
      open: (text, _call, from) => openFrom(text, from),
      found: ({ label }, { direction }) => report(wanted, `${label} in a ${direction}`),
    })
    return {
      pure: true,
      detect: {
        ...(request !== 'off' && { request: detection(request) }),
        ...(response !== 'off' && { reply: detection(response) }),
      },
    }
  },
})

const spanOf = (found: FoundWord, wanted: Exclude<Action, 'off'>): Span =>
  spanFor(found, found.category, wanted === 'flag' ? 'warn' : wanted)
