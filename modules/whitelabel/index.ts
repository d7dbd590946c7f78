import { z } from 'zod'
import { type Call, type Detection, defineModule } from '#kernel'
import { ensure, findAll, formFinder, lastWords } from '#kit'
import { branded, shownModel } from './answer.ts'
import { type Brand, brandSchema, compileBrands } from './brands.ts'
import { brandedError, namesOne } from './errors.ts'
import { longestMatch, mostWords, namePattern, tellingNames } from './hidden.ts'

/** Headers that say what was done for a provider, or which models there are. */
const ofProviders = ['x-params-changed', 'x-models', 'x-model-downgraded']

export default defineModule({
  settings: z.strictObject({
    brands: z
      .record(z.string().regex(/^[\w-]{1,64}$/), brandSchema)
      .default({})
      .meta({
        title: 'Brands',
        description: 'What clients see in place of providers and their models, by a name of your own.',
      }),
  }),

  setup({ settings, slot }) {
    if (Object.keys(settings.brands).length === 0) return {}
    const brandOf = compileBrands(settings.brands)

    /** Names of a call's text are known when it is sent on; another attempt may add some. */
    const patterns = slot<{ attempts: number; pattern?: RegExp | undefined }>(() => ({ attempts: -1 }))
    const patternOf = (call: Call, words: readonly string[]): RegExp | undefined => {
      const known = patterns(call)
      if (known.attempts !== call.trace.attempts.length) {
        known.attempts = call.trace.attempts.length
        known.pattern = namePattern(tellingNames(call, words))
      }
      return known.pattern
    }

    /** A stream says its model in each chunk. */
    const models = slot(() => new Map<string, string>())
    const shownFor =
      (call: Call, brand: Brand) =>
      (model: string): string =>
        ensure(models(call), model, () => shownModel(model, call, brand), 16)

    const reveal: Detection = {
      reach: longestMatch,
      context: 2,
      applies: (call) => brandOf(call)?.texts ?? false,
      scan(text, { kind }, call, from) {
        const brand = brandOf(call)
        const pattern = brand && kind !== 'arguments' ? patternOf(call, brand.words) : undefined
        if (!brand || !pattern) return []
        return findAll([formFinder({ pattern })], text, from).map((span) => ({
          ...span,
          label: 'name',
          action: 'replace' as const,
          replacement: brand.name,
        }))
      },
      open: (text, _call, from) => lastWords(mostWords, text, from),
    }

    return {
      reveal,
      show: {
        body(body, call) {
          const brand = brandOf(call)
          return brand && branded(body, call, brand, shownFor(call, brand))
        },
        stream(call) {
          const brand = brandOf(call)
          if (!brand) return undefined
          const shown = shownFor(call, brand)
          return { push: (chunk, out) => out.emit(chunk.with(branded(chunk.data, call, brand, shown))) }
        },
        error(error, call) {
          const brand = brandOf(call)
          return brand ? brandedError(error, call, brand) : error
        },
        headers(headers, call) {
          const brand = brandOf(call)
          if (!brand) return
          const names = namesOne(call, brand)
          for (const [name, value] of Object.entries(headers))
            if (ofProviders.includes(name) || names(name) || names(String(value))) delete headers[name]
          for (const [name, value] of Object.entries(brand.headers)) headers[name.toLowerCase()] = value
        },
      },
    }
  },
})
