import { badRequest } from '#kernel'
import { problemOf } from '#kit'

/** The bad request for a body that does not fit its schema: it names the field, below `at`, and what is wrong there. */
export function refusalOf(
  issue: { readonly path: readonly PropertyKey[]; readonly message: string },
  at = '',
): Error {
  const param = [...(at === '' ? [] : [at]), ...issue.path].join('.') || undefined
  return badRequest(param ? `${param}: ${problemOf(issue)}.` : 'The body must be a JSON object.', { param })
}
