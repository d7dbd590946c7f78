import { notFound } from '../errors.ts'
import { pathMatcher } from './path-forms.ts'

/** A plugin, as far as it matters to those who ask for its routes. */
interface Known {
  readonly manifest?: { readonly kind: string } | undefined
  readonly setting?: { readonly enabled: boolean } | undefined
  readonly instance?: unknown
}

/**
 * The refusal where there is nothing. It names the plugin whose routes these are and that does not run, or the path among those of clients
 * that was meant, if there is one.
 */
export function nothingAt(
  { method, path }: { method: string; path: string },
  posted: { readonly paths: readonly string[] },
  plugin: (id: string) => Known | undefined,
): Error {
  const owner = ownerOf(path)
  const known = owner === undefined ? undefined : plugin(owner)
  if (owner !== undefined && known && !known.instance) {
    const detail = { type: 'not_running', details: { plugin: owner } }
    return notFound(`There is nothing at ${method} ${path}. ${reasonOf(owner, known)}`, detail)
  }
  const meant = method === 'POST' ? meantPath(path, posted.paths) : undefined
  const hint = meant === undefined ? '' : `; there is ${meant}: check the base URL of your client`
  return notFound(`There is nothing at ${method} ${path}${hint}.`)
}

/** The plugin that routes belong to by their name: `/api/modules/{id}/…` for modules, `/api/{id}/…` for areas. */
const ownerOf = (path: string): string | undefined => /^\/api\/(?:modules\/)?([^/]+)/.exec(path)?.[1]

function reasonOf(id: string, { manifest, setting }: Known): string {
  const called = `The ${manifest?.kind === 'module' ? 'module' : 'plugin'} ${id}`
  if (setting?.enabled) return `${called} does not run. GET /api/plugins/${id} says why.`
  const at = manifest?.kind === 'module' ? '/api/proxy/modules' : '/api/plugins'
  return `${called} is switched off. PUT ${at}/${id} with {"enabled": true} switches it on.`
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
