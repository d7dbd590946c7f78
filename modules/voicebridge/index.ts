import { z } from 'zod'
import { type Call, defineModule } from '#kernel'
import { languageDetector, messageTexts, wantsProse, writeContent, writingInTurns } from '#kit'
import { type SpokenLanguage, spokenLanguages } from './expand.ts'
import { Speech } from './speech.ts'

export default defineModule({
  settings: z.strictObject({
    active: z.enum(['header', 'always']).default('header').meta({
      title: 'Active',
      description:
        'For calls with X-Voice: true, or for all calls that the module is for, except those with X-Voice: false.',
    }),
    format: z.enum(['text', 'ssml']).default('text').meta({
      title: 'Format',
      description: 'Plain sentences, or a document of SSML with an element for each.',
    }),
    language: z
      .enum(['auto', ...spokenLanguages])
      .default('auto')
      .meta({
        title: 'Language',
        description:
          'The language that numbers, units, symbols and abbreviations are spoken in: that of the answer, or always the same.',
      }),
  }),

  async setup({ settings: { active, format, language } }) {
    const fixed = language === 'auto' ? undefined : language
    const languageOf = fixed ? undefined : await languageDetector()
    const isActive = (call: Call): boolean => {
      const asked = String(call.context.headers['x-voice'] ?? '').toLowerCase()
      return (active === 'always' ? asked !== 'false' : asked === 'true') && wantsProse(call)
    }

    /** The language of the question; English where it cannot be told. */
    function questionLanguage({ request: { messages = [] } }: Call): SpokenLanguage | undefined {
      const last = messages.findLast(({ role }) => role === 'user')
      const told = (last && languageOf?.(messageTexts(last).join('\n'))) ?? 'en'
      return spokenLanguages.find((spoken) => spoken === told)
    }

    return {
      wraps: isActive,
      async around(call, next) {
        const reply = await next(call)
        const start = fixed ?? questionLanguage(call)
        call.trace.header('x-voice', format)
        return writeContent(reply, () => writingInTurns(new Speech({ format, language: start, languageOf })))
      },
    }
  },
})
