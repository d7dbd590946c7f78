import { z } from 'zod'
import { type Call, defineModule, type Next, type Reply } from '#kernel'
import { languageDetector, wantsProse, writeContent } from '#kit'
import { BackTranslation } from './back.ts'
import { asked, type Question, questionOf } from './question.ts'
import { toldLanguage } from './told.ts'
import { languageName, Translator, Untranslated } from './translator.ts'

const language = z
  .string()
  .regex(/^[a-z]{2}$/, 'must be a code of two letters such as de')
  .refine((code) => languageName(code) !== undefined, 'must be the code of a language such as de')

const isCode = (value: unknown): value is string => language.safeParse(value).success

/** A longer question stays as it is: its translation would cost more than it helps. */
const longest = 20_000

export default defineModule({
  settings: z.strictObject({
    working_language: language.default('en').meta({
      title: 'Working language',
      description: 'The language that models are asked in, by its ISO 639-1 code.',
    }),
    model: z.string().min(1).max(256).optional().meta({
      title: 'Model',
      description:
        'The model that translates, with the keys of the caller, who pays. Nothing is translated without one.',
    }),
    only: z.array(language).max(100).default([]).meta({
      title: 'Only',
      description: 'The languages of users that are translated; all without any.',
    }),
  }),

  async setup({ id, settings: { working_language: working, model, only }, mode, complete }) {
    if (model === undefined) return {}
    const languageOf = await languageDetector()
    const translator = new Translator(model, complete)
    const translates = (told: string): boolean =>
      told !== working && (only.length === 0 || only.includes(told))

    /** The call in the working language; undefined where that fails, which the trace then says. */
    async function translated(call: Call, question: Question, from: string): Promise<Call | undefined> {
      try {
        return await asked(call, question, { translator, from, to: working })
      } catch (error) {
        if (!(error instanceof Untranslated)) throw error
        call.trace.note(id, 'question_untranslated', { language: from, fault: error.fault })
        return undefined
      }
    }

    function tell({ trace }: Call, from: string): void {
      trace.note(id, 'translated', { from, to: working })
      trace.header('x-translated-from', from)
      trace.facts.langbridge = { from, to: working }
    }

    function back(reply: Reply, call: Call, to: string): Promise<Reply> {
      let isTold = false
      return writeContent(
        reply,
        () =>
          new BackTranslation({
            ...{ translator, languageOf, call, from: working, to },
            failed(fault) {
              if (!isTold) call.trace.note(id, 'answer_untranslated', { language: to, fault })
              isTold = true
            },
          }),
      )
    }

    return {
      wraps: wantsProse,
      async around(call: Call, next: Next) {
        const question = questionOf(call)
        const text = question?.texts.join('\n') ?? ''
        const told = toldLanguage(text, languageOf)
        const wanted = call.context.headers['x-answer-language']
        if (!question || told === undefined || !translates(told)) {
          // A question that is in the working language may still have come from a user of another.
          if (!isCode(wanted) || !translates(wanted) || mode === 'shadow') return next(call)
          tell(call, wanted)
          return back(await next(call), call, wanted)
        }
        if (text.length > longest || mode === 'shadow') {
          // In shadow nobody pays for a translation.
          const verdict = mode === 'shadow' ? 'would_translate' : 'question_too_long'
          call.trace.note(id, verdict, { language: told })
          return next(call)
        }
        const inWorking = await translated(call, question, told)
        if (!inWorking) return next(call)
        tell(call, told)
        return back(await next(inWorking), call, told)
      },
    }
  },
})
