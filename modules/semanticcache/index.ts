import { z } from 'zod'
import { type Call, type Completion, defineModule, Sealing } from '#kernel'
import {
  ageS,
  answerCacheFields,
  type CacheEntry,
  cacheDirectives,
  circleOf,
  cosine,
  embed,
  isStorable,
  KeptAnswers,
  replayed,
  watched,
} from '#kit'
import { agree } from './agreement.ts'
import { contentOf, formOf } from './forms.ts'
import { keyOf, questionOf, splitQuestion, withQuestion } from './question.ts'

export default defineModule({
  settings: z.strictObject({
    ...answerCacheFields,
    threshold: z.number().min(0.5).max(1).default(0.92).meta({
      title: 'Threshold',
      description:
        'From 0 to 1: how alike the embeddings of two questions must be. Without a model it has no effect.',
    }),
    embedding_model: z.string().min(1).max(256).optional().meta({
      title: 'Embedding model',
      description:
        'The model that compares questions of the same content, at the expense of the caller. Without one only near duplicates are answered: questions that differ in letter case, punctuation, politeness and word order.',
    }),
    verify_pct: z.number().min(0).max(100).default(5).meta({
      title: 'Verification',
      description:
        'Percentage of hits for which the provider is asked anyway; GET /api/cache/stats reports in how many of them it agreed.',
    }),
  }),

  async setup(context) {
    const { id, settings, store, slot, use } = context
    const { ttl_s, max_entries, max_bytes, share, tool_calls, threshold, embedding_model, verify_pct } =
      settings
    const checks = await store.counters('verification')
    const answers = await KeptAnswers.of(context, {
      ttlS: ttl_s,
      maxEntries: max_entries,
      maxBytes: max_bytes,
      sealing: () => use(Sealing),
      shownAs: {
        kind: embedding_model === undefined ? 'near_duplicates' : 'semantic',
        verification: () => ({ verified: checks.get('verified'), agreed: checks.get('agreed') }),
      },
    })
    const wasHit = slot(() => ({ is: false }))

    /** How alike a question and the one that was answered are; undefined where they are not enough so. */
    async function likeness(call: Call, asked: string, answered: string): Promise<Likeness | undefined> {
      if (asked === answered) return { kind: 'exact' }
      if (embedding_model === undefined) return { kind: 'semantic' }
      if (JSON.stringify(formOf(asked)) === JSON.stringify(formOf(answered))) return { kind: 'semantic' }
      try {
        const [a, b] = await embed(context, embedding_model, [asked, answered], { on: call, as: 'caller' })
        const similarity = cosine(a!, b!)
        return similarity >= threshold ? { kind: 'semantic', similarity } : undefined
      } catch (error) {
        call.signal.throwIfAborted()
        context.log.warn({ err: error }, 'questions could not be compared')
        call.trace.note(id, 'not_compared')
        return undefined
      }
    }

    function check(call: Call, kept: Completion, fresh: Completion): void {
      const agreed = agree(kept, fresh)
      checks.add('verified', 1)
      if (agreed) checks.add('agreed', 1)
      call.trace.note(id, 'verified', { agreed })
    }

    return {
      wraps: ({ operation }) => operation === 'chat',
      async around(call, next) {
        const { skip, fresh, maxAgeS } = cacheDirectives(call.context.headers['cache-control'])
        const question = skip ? undefined : questionOf(call)
        if (!question) return next(call)
        const form = formOf(question.text)
        const key = keyOf(
          call,
          question,
          embedding_model === undefined ? form : contentOf(form),
          circleOf(call, share),
        )
        const looked = fresh ? undefined : answers.find(key)
        const entry = looked instanceof Promise ? await looked : looked
        const found = entry && ageS(entry) <= maxAgeS ? knownOf(entry) : undefined
        const like = found && (await likeness(call, question.text, found.text))
        const isChecked = like?.kind === 'semantic' && Math.random() * 100 < verify_pct
        if (found && like && !isChecked) {
          wasHit(call).is = true
          answers.figures.hit(key, found.entry.body.usage?.total_tokens ?? 0)
          call.trace.note(id, like.similarity === undefined ? 'near_duplicate' : 'similar')
          return replayed(call, found.entry, like)
        }
        answers.figures.miss()
        call.trace.header('x-cache', 'miss')
        const reply = await next(call)
        const { served } = call.trace
        return watched(reply, (body, bytes) => {
          if (!isStorable(body, tool_calls)) return
          if (found && isChecked) check(call, found.entry.body, body)
          const size = bytes === undefined ? undefined : bytes + Buffer.byteLength(question.text)
          answers.keep(call, key, withQuestion(body, question.text), { served, bytes: size })
        })
      },
      settled({ saved }, call) {
        if (saved && wasHit(call).is) answers.figures.save(saved.totalNano)
      },
    }
  },
})

interface Likeness {
  readonly kind: 'exact' | 'semantic'
  readonly similarity?: number
}

/** An entry without the question that it answers, and the question. */
function knownOf(entry: CacheEntry): { readonly entry: CacheEntry; readonly text: string } {
  const { text, body } = splitQuestion(entry.body)
  return { text, entry: { ...entry, body } }
}
