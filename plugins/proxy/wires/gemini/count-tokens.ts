import { z } from 'zod'
import { type Context, Trace } from '#kernel'
import { countTokens } from '../counting.ts'
import { checkAddress } from './address.ts'
import { errorOf } from './errors.ts'
import { modelOf, requestOf } from './request.ts'
import { checked, countBody, generateBody } from './schema.ts'
import { errorBody } from './shapes.ts'

/** Counts the tokens of contents, or of a whole request, before it is made: see countTokens. */
export function addGeminiCountRoute(context: Context<unknown>): void {
  for (const version of ['v1beta', 'v1']) {
    context.route({
      method: 'post',
      path: `/${version}/models/{+model}:countTokens`,
      access: 'any',
      reads: true,
      wire: { error: errorOf, errors: errorBody, check: checkAddress },
      summary: 'Tokens of a request in the Gemini format, counted or estimated',
      params: z.strictObject({ model: z.string() }),
      body: z.looseObject({}),
      returns: z.object({ totalTokens: z.int() }),
      throws: [403, 404],
      async handle({ body: given, params, ...asking }) {
        const { generateContentRequest, ...bare } = checked(countBody, given)
        const body = checked(generateBody, generateContentRequest ?? bare)
        const request = requestOf(body, modelOf(params.model), { trace: new Trace() })
        return { totalTokens: await countTokens(context, { ...asking, wire: 'gemini', request }) }
      },
    })
  }
}
