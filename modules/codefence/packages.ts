import { builtinModules } from 'node:module'
import { distance } from 'fastest-levenshtein'
import type { Severity } from './danger.ts'
import { popular, pythonStandard } from './popular.ts'

export type Registry = keyof typeof popular

/** Shorter names are near one another by chance. */
const shortest = 5

/** Judges packages by their names, without asking a registry. */
export class Packages {
  readonly #known: Readonly<Record<Registry, ReadonlySet<string>>>
  readonly #popular: Readonly<Record<Registry, readonly string[]>>
  readonly #onlyKnown: boolean

  /** `allowed` names are known in every registry; with `onlyKnown` a package that is not known is suspect. */
  constructor(allowed: readonly string[], onlyKnown: boolean) {
    this.#popular = {
      npm: [...popular.npm, ...allowed].map((name) => normalized(name, 'npm')),
      pypi: [...popular.pypi, ...allowed].map((name) => normalized(name, 'pypi')),
    }
    this.#known = {
      npm: new Set([...this.#popular.npm, ...builtinModules]),
      pypi: new Set([...this.#popular.pypi, ...pythonStandard]),
    }
    this.#onlyKnown = onlyKnown
  }

  /**
   * `high` for a name that is one letter, one exchange of neighbours or only its separators away from a popular one; `medium` for
   * one that is unknown where only known ones are wanted. Paths, addresses and packages with a scope are not judged.
   */
  suspicionOf(written: string, registry: Registry): Severity | undefined {
    const name = nameOf(written, registry)
    if (name === undefined || this.#known[registry].has(name)) return undefined
    if (this.#popular[registry].some((other) => other.length >= shortest && isNear(name, other)))
      return 'high'
    return this.#onlyKnown ? 'medium' : undefined
  }
}

/** The name without its version and extras, in the registry's form. */
function nameOf(written: string, registry: Registry): string | undefined {
  const [, name] = /^(?:node:)?([a-z0-9][\w.-]*)(?:$|[@=<>~![;])/i.exec(written) ?? []
  return name === undefined ? undefined : normalized(name, registry)
}

const normalized = (name: string, registry: Registry): string =>
  registry === 'pypi' ? name.toLowerCase().replace(/[_.-]+/g, '-') : name.toLowerCase()

const withoutSeparators = (name: string): string => name.replace(/[-_.]/g, '')

function isNear(name: string, other: string): boolean {
  if (Math.abs(name.length - other.length) > 3) return false
  if (withoutSeparators(name) === withoutSeparators(other)) return true
  const far = distance(name, other)
  if (far !== 2 || name.length !== other.length) return far === 1
  const at = [...name].findIndex((letter, i) => letter !== other[i])
  return name.slice(0, at) + name[at + 1] + name[at] + name.slice(at + 2) === other
}
