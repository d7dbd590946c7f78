import type { z } from 'zod'

const most = 20

/** A catalogue that cannot be used: one readable line for each mistake, the first twenty of them. */
export class CatalogueError extends Error {
  readonly code = 'CATALOGUE_INVALID'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    const shown =
      problems.length > most ? [...problems.slice(0, most), `and ${problems.length - most} more`] : problems
    super(shown.join('\n'))
    this.name = 'CatalogueError'
    this.problems = shown
  }
}

/** Each issue as a line that starts with where it is. */
export const linesOf = (error: z.ZodError, at: readonly string[] = []): string[] =>
  error.issues.map(({ path, message }) => `${[...at, ...path.map(String)].join(' › ') || 'file'}: ${message}`)
