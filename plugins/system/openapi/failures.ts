import type { z } from 'zod'
import type { LiveRoute } from '#kernel'
import { type Schema, schemaOf } from './schemas.ts'

const meanings: Readonly<Record<number, string>> = {
  400: 'Something is wrong with the request.',
  401: 'The key is missing or not valid.',
  403: 'The key or its address may not do this.',
  404: 'It does not exist, or this key cannot see it.',
  408: 'The body stopped arriving.',
  409: 'It conflicts with the current state.',
  413: 'The body is too large.',
  415: 'The body is of another type.',
  422: 'A provider cannot do anything with the request.',
  429: 'A limit is reached.',
  431: 'The address and the headers are too large.',
}

/** Statuses with which any model call may be refused. */
export const ofCalls: readonly number[] = [400, 401, 403, 404, 413, 415, 422, 429, 431]

/** Statuses with which a route may refuse: those that every route of its kind has, and its own. */
export function ofRoute(
  { access, path, params, query, body, throws = [] }: LiveRoute,
  isGuarded: boolean,
): number[] {
  const needsMore = access === 'user' || access === 'admin'
  const usual = [
    ...(params || query || body ? [400] : []),
    401,
    ...(needsMore || isGuarded ? [403] : []),
    ...(path.includes('{') ? [404] : []),
    ...(body ? [413, 415] : []),
    ...(body && 'read' in body ? [408] : []),
    429,
    431,
  ]
  return [...new Set([...usual, ...throws])].sort((a, b) => a - b)
}

/** The answers of refusals and failures. */
export function failures(statuses: readonly number[], errors: z.ZodType | undefined): Schema {
  const usual = { $ref: '#/components/schemas/Error' }
  const ofWire = errors ? schemaOf(errors, 'output') : usual
  const failure = (description: string, schema = ofWire): Schema => ({
    description,
    content: { 'application/json': { schema } },
  })
  return {
    ...Object.fromEntries(
      statuses.map((status) => {
        // What is no request yet is of no wire.
        const answer = failure(meanings[status] ?? 'It was refused.', status === 431 ? usual : ofWire)
        return [status, status === 429 ? { ...answer, headers: ofLimits } : answer]
      }),
    ),
    '5XX': failure('The gateway or a provider failed.'),
  }
}

const ofLimits = {
  'Retry-After': { description: 'Seconds to wait before a retry.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': {
    description: 'What remains, which is too little for the request.',
    schema: { type: 'integer' },
  },
  'X-RateLimit-Reset': { description: 'Seconds until something remains.', schema: { type: 'integer' } },
  'X-RateLimit-Limit': { description: 'The limit, where one number says it.', schema: { type: 'number' } },
}
