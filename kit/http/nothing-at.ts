import { notFound } from '../errors.ts'
import { pathMatcher } from './path-forms.ts'

/** The refusal where there is nothing. It names the path among those of clients that was meant, if there is one. */
export function nothingAt(
  { method, path }: { method: string; path: string },
  posted: { readonly paths: readonly string[] },
): Error {
  const meant = method === 'POST' ? meantPath(path, posted.paths) : undefined
  const hint = meant === undefined ? '' : `; there is ${meant}: check the base URL of your client`
  return notFound(`There is nothing at ${method} ${path}${hint}.`)
}

/** The path that was meant where a base URL has a segment too many or too few: `/v1/v1/messages`, `/chat/completions`. */
function meantPath(path: string, known: readonly string[]): string | undefined {
  const ends = endsOf(path)
  const tooMany = ends.find((end) => known.some((form) => pathMatcher(form)(end)))
  if (tooMany !== undefined || ends[0] === undefined) return tooMany
  const tooFew = known.flatMap((form) => {
    const short = endsOf(form).find((end) => pathMatcher(end)(ends[0]!))
    return short === undefined ? [] : [form.slice(0, form.length - short.length) + ends[0]!]
  })
  return tooFew.sort((a, b) => a.length - b.length)[0]
}

/** What a path ends with, longest first: all of it, then without its first segment, and so on. */
function endsOf(path: string): string[] {
  const segments = path.split('/').filter(Boolean)
  return segments.map((_, i) => `/${segments.slice(i).join('/')}`)
}
