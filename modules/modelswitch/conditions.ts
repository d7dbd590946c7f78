import type { Call, TokenCounting } from '#kernel'
import { compileGlobs, compileHours, compileWhen, type LanguageDetector, patternFinder } from '#kit'
import { hasImages, lastWords } from './prompt.ts'
import type { Conditions } from './rule.ts'

/** Says why a condition holds for a call, without a word of its texts; nothing where it does not. */
export type Test = (call: Call) => string | undefined

export interface Tools {
  readonly tokens: () => TokenCounting | undefined
  readonly languageOf: LanguageDetector
  readonly timezone: string
}

/** A match of a keyword is shorter than this. */
const longestKeyword = 200

type Compile<K extends keyof Conditions> = (wanted: NonNullable<Conditions[K]>, tools: Tools) => Test

/** By what a call brings beside its request: the answer to equal requests may differ by these. */
const around: { readonly [K in 'tags' | 'plans' | 'projects' | 'users' | 'hours' | 'headers']: Compile<K> } =
  {
    tags: (tags) => whenever({ tags }, `tags ${Object.entries(tags).map((pair) => pair.join('='))}`),
    plans: (plans) => whenever({ plans }, ({ principal }) => `plan ${principal.plan}`),
    projects: (projects) => whenever({ projects }, ({ context }) => `project ${context.project}`),
    users: (users) => whenever({ users }, ({ principal }) => `user ${principal.userId}`),
    hours(hours, { timezone }) {
      const isOpen = compileHours(hours, timezone)
      return ({ trace }) => (isOpen(trace.startedAt) ? `the time in ${timezone}` : undefined)
    },
    headers(wanted) {
      const tests = Object.entries(wanted).map(([name, glob]) => ({ name, matches: compileGlobs([glob]) }))
      const reason = `header ${tests.map(({ name }) => name).join(', ')}`
      return ({ context: { headers } }) =>
        tests.every(({ name, matches }) => {
          const value = headers[name]
          return typeof value === 'string' && matches(value)
        })
          ? reason
          : undefined
    },
  }

/** By the request, the cheap ones first. */
const inside: {
  readonly [K in 'models' | 'tools' | 'images' | 'prompt_tokens' | 'keywords' | 'languages']: Compile<K>
} = {
  models: (models) => whenever({ models }, ({ request }) => `model ${request.model}`),
  tools: (wanted) => (call) =>
    (call.request.tools?.length ?? 0) > 0 === wanted ? (wanted ? 'tools' : 'no tools') : undefined,
  images: (wanted) => (call) =>
    hasImages(call.request) === wanted ? (wanted ? 'images' : 'no images') : undefined,
  prompt_tokens:
    ({ min = 0, max = Number.POSITIVE_INFINITY }, { tokens: counting }) =>
    (call) => {
      const tokens = counting()?.estimate(call.request).tokens
      return tokens !== undefined && tokens >= min && tokens <= max ? `about ${tokens} tokens` : undefined
    },
  keywords(sources) {
    const finders = sources.map((source) => ({ source, find: patternFinder(source, longestKeyword) }))
    return ({ request }) => {
      const words = lastWords(request)
      const found = finders.find(({ find }) => find(words, 0))
      return found && `keyword ${found.source}`
    }
  },
  languages:
    (wanted, { languageOf }) =>
    ({ request }) => {
      const language = languageOf(lastWords(request))
      return language !== undefined && wanted.includes(language) ? `language ${language}` : undefined
    },
}

export const testsAround = (when: Conditions, tools: Tools): Test[] => compiled(around, when, tools)
export const testsInside = (when: Conditions, tools: Tools): Test[] => compiled(inside, when, tools)

function compiled<K extends keyof Conditions>(
  compilers: { readonly [C in K]: Compile<C> },
  when: Conditions,
  tools: Tools,
): Test[] {
  return (Object.keys(compilers) as K[]).flatMap((name) => {
    const wanted = when[name]
    return wanted === undefined ? [] : [compilers[name](wanted as NonNullable<Conditions[K]>, tools)]
  })
}

/** A condition that a module's own `when` knows too. */
function whenever(when: Parameters<typeof compileWhen>[0], reason: string | ((call: Call) => string)): Test {
  const unmet = compileWhen(when)!
  return (call) => (unmet(call) ? undefined : typeof reason === 'string' ? reason : reason(call))
}
