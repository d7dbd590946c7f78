import { z } from 'zod'
import { type Call, type Completion, type Detection, defineModule, type Reply, type Span } from '#kernel'
import { mapReplyTexts, mapRequestTexts, replyWith, requestTexts, spanFor } from '#kit'
import { abuseCategories, Moderation } from '#provider'
import { wordTest } from './matcher.ts'
import { type Act, moderated, type Policy } from './moderated.ts'
import { checkedStream, sentencesOf } from './sentences.ts'
import { wordCategories } from './words.ts'
import { type FoundWord, longest, openFrom, wordsIn } from './words-in.ts'

const action = z.enum(['block', 'redact', 'flag', 'off'])
type Action = z.infer<typeof action>

const word = z
  .string()
  .trim()
  .regex(/^\S{2,60}$/, 'must be one word of 2 to 60 characters')

const threshold = (title: string) =>
  z.number().min(0.01).max(1).default(0.5).meta({ title, description: 'From 0 to 1.' })

/** Texts of a request that are scored, the newest of them. */
const mostTexts = 16

const settings = z
  .strictObject({
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
      .array(z.enum([...wordCategories, ...abuseCategories]))
      .min(1)
      .default([...wordCategories])
      .meta({
        title: 'Categories',
        description: 'What is looked for. All but profanity and slurs need a moderation model.',
      }),
    moderation_model: z.string().min(1).max(256).optional().meta({
      title: 'Moderation model',
      description:
        'Scores texts for the other categories, with the keys of the gateway: such as `openai/omni-moderation-latest` or `mistral/mistral-moderation-latest`.',
    }),
    thresholds: z
      .strictObject({
        hate: threshold('Hate'),
        harassment: threshold('Harassment'),
        sexual: threshold('Sexual'),
        violence: threshold('Violence'),
        self_harm: threshold('Self-harm'),
      })
      .prefault({})
      .meta({ title: 'Thresholds', description: 'The score from which a text has a category.' }),
    words: z.array(word).max(5000).default([]).meta({
      title: 'Words',
      description: 'Further words that count as profanity, in any spelling that the module sees through.',
    }),
    allow: z.array(word).max(5000).default([]).meta({
      title: 'Allowed',
      description: 'Words that are let through, such as names.',
    }),
  })
  .superRefine(({ categories, moderation_model }, context) => {
    const unsourced = abuseCategories.filter((one) => categories.includes(one))
    if (moderation_model === undefined && unsourced.length > 0)
      context.addIssue({
        code: 'custom',
        path: ['categories'],
        message: `${unsourced.join(', ')} cannot be told from words: set moderation_model`,
      })
  })

export default defineModule({
  settings,

  async setup({ id, settings, mode, report, use }) {
    const { request, response, categories, moderation_model: model, thresholds } = settings
    if (request === 'off' && response === 'off') return {}
    const fromWords = wordCategories.filter((one) => categories.includes(one))
    const test = await wordTest(fromWords, settings.words, settings.allow)
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
    const detect = {
      ...(request !== 'off' && { request: detection(request) }),
      ...(response !== 'off' && { reply: detection(response) }),
    }
    const scored = abuseCategories.filter((one) => categories.includes(one))
    // In shadow nobody is asked.
    if (model === undefined || scored.length === 0 || mode === 'shadow') return { pure: true, detect }
    const policy: Policy = {
      id,
      categories: scored,
      thresholds,
      score: (texts, call) => use(Moderation).scores(texts, model, call),
    }
    const isSpoken = ({ operation }: Call): boolean => operation !== 'embedding'
    return {
      detect,
      ...(request !== 'off' && {
        request: (call: Call) => (isSpoken(call) ? asked(call, request, policy) : undefined),
      }),
      ...(response !== 'off' && {
        wraps: isSpoken,
        around: async (call: Call, next: (call: Call) => Promise<Reply>) =>
          answered(await next(call), call, response, policy),
      }),
    }
  },
})

async function asked(call: Call, act: Act, policy: Policy): Promise<Call | undefined> {
  const texts = requestTexts(call.request)
    .filter(({ place: { role, kind } }) => (role === 'user' || role === 'tool') && kind === 'content')
    .map(({ text }) => text)
    .slice(-mostTexts)
  const passed = await moderated(texts, call, 'request', act, policy)
  const exchanged = new Map(texts.flatMap((text, i) => (passed[i] === text ? [] : [[text, passed[i]!]])))
  if (exchanged.size === 0) return undefined
  return call.with({ request: mapRequestTexts(call.request, (text) => exchanged.get(text) ?? text) })
}

async function answered(reply: Reply, call: Call, act: Act, policy: Policy): Promise<Reply> {
  const check = (texts: readonly string[]) => moderated(texts, call, 'reply', act, policy)
  if (reply.kind === 'stream') return reply.through(checkedStream(reply.chunks, check))
  const sentences = new Set<string>()
  mapReplyTexts(reply.body, (text, { kind }) => {
    if (kind === 'content') for (const sentence of sentencesOf(text)) sentences.add(sentence)
    return text
  })
  const all = [...sentences]
  const passed = new Map((await check(all)).map((text, i) => [all[i]!, text]))
  const body: Completion = mapReplyTexts(reply.body, (text, { kind }) =>
    kind === 'content'
      ? sentencesOf(text)
          .map((one) => passed.get(one) ?? one)
          .join('')
      : text,
  )
  return body === reply.body ? reply : replyWith(call, body)
}

const spanOf = (found: FoundWord, wanted: Exclude<Action, 'off'>): Span =>
  spanFor(found, found.category, wanted === 'flag' ? 'warn' : wanted)
