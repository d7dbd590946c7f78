import { badRequest, isGatewayError, tooLarge } from '../errors.ts'

/** Errors of Koa and of its body parser, in our words. */
export function httpError(thrown: unknown): unknown {
  if (isGatewayError(thrown)) return thrown
  const { status, type } = (thrown ?? {}) as { status?: number; type?: string }
  if (type === 'entity.too.large' || status === 413)
    return tooLarge('The body is too large.', { cause: thrown })
  if (status === 400) {
    const what =
      thrown instanceof SyntaxError ? 'The body is not a JSON object.' : 'The path cannot be decoded.'
    return badRequest(what, { cause: thrown })
  }
  if (status === 415)
    return badRequest('The body must be JSON, sent as application/json.', { status: 415, cause: thrown })
  return thrown
}
