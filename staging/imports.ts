import { registerHooks } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/** What plugins share with the gateway and import by another name than it does. */
const shared: ReadonlyMap<string, string> = new Map([
  ['switchyard', '#kernel'],
  ['switchyard/kit', '#kit'],
  ['switchyard/provider', '#provider'],
  ['zod', '#zod'],
  ['zod/v4', '#zod'],
])

/** Where the packages of a staged folder are looked for: folders, in order. Undefined for what is none. */
export type Lookups = (name: string) => readonly string[] | undefined

/**
 * Resolves what the plugins staged below a folder import: the contract and `zod` to the gateway's own copies, so that
 * there is one of each; packages from where the plugin's are; files of its own folder, and no others. Returns what
 * ends it.
 */
export function resolveStaged(root: string, lookups: Lookups): () => void {
  const below = urlOf(root)
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const { parentURL } = context
      if (!parentURL?.startsWith(below) || specifier.startsWith('node:')) return next(specifier, context)
      const [name = '', ...file] = decodeURIComponent(parentURL.slice(below.length)).split('/')
      const places = lookups(name)
      const own = ownName(specifier)
      const ours = () => next(own ?? specifier, { ...context, parentURL: import.meta.url })
      if (!places) return own ? first([() => next(specifier, context), ours]) : next(specifier, context)
      if (own) return ours()
      if (isPath(specifier)) {
        const found = next(specifier, context)
        if (found.url.startsWith(urlOf(path.join(root, name)))) return found
        throw new Error(`it imports ${specifier}, which is outside its folder`)
      }
      const tries = places.map((place) => () => next(specifier, { ...context, parentURL: urlOf(place) }))
      try {
        return first([...tries, () => next(specifier, context)])
      } catch (error) {
        if (!isMissing(error)) throw error
        throw new Error(`${file.join('/')} imports ${specifier}, which is not installed`, { cause: error })
      }
    },
  })
  return () => hooks.deregister()
}

/** A staged folder, as far as another thread can receive it. */
export interface StagedFolder {
  readonly root: string
  /** Folders where its packages are looked for, in order. */
  readonly lookups: readonly string[]
}

/** The same for one staged folder, in a thread of its own: hooks hold for the thread that registers them. */
export const resolveStagedAlone = ({ root, lookups }: StagedFolder): (() => void) =>
  resolveStaged(path.dirname(root), (name) => (name === path.basename(root) ? lookups : undefined))

const urlOf = (folder: string): string => `${pathToFileURL(folder).href}/`

const isPath = (specifier: string): boolean => /^(\.{0,2}\/|file:)/.test(specifier)

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'

/** The gateway's own name for it, when plugins are to have the gateway's copy. */
const ownName = (specifier: string): string | undefined =>
  shared.get(specifier) ?? (/^(#(kernel|kit|provider)$|zod(\/|$))/.test(specifier) ? specifier : undefined)

/** The first that works; the last one's error when none does. */
function first<T>(tries: readonly (() => T)[]): T {
  let failure: unknown
  for (const attempt of tries) {
    try {
      return attempt()
    } catch (error) {
      failure = error
    }
  }
  throw failure
}
