import { z } from 'zod'
import type { Context } from '#kernel'
import { countTokens } from '../counting.ts'
import { errorOf } from './errors.ts'
import { requestOf } from './request.ts'
import { messagesBody } from './schema.ts'
import { errorBody } from './shapes.ts'

const body = messagesBody.omit({ max_tokens: true })

/** Counts a message's tokens before it is sent: see countTokens. */
export function addCountRoute(context: Context<unknown>): void {
  context.route({
    method: 'post',
    path: '/v1/messages/count_tokens',
    access: 'any',
    reads: true,
    wire: { error: errorOf, errors: errorBody, idHeader: 'request-id' },
    summary: 'Tokens of a message in the Anthropic format, counted or estimated',
    body,
    returns: z.object({ input_tokens: z.int() }),
    throws: [403, 404],
    async handle({ body, ...asking }) {
      const request = requestOf({ ...body, max_tokens: 1 })
      return { input_tokens: await countTokens(context, { ...asking, wire: 'messages', request }) }
    },
  })
}
