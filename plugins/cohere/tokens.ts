import type { TokenQuestion } from '#kernel'
import { requestTexts } from '#kit'
import { objectIn } from '#provider'
import { headersOf, rootOf } from './request.ts'

/** Characters that the endpoint takes. */
const most = 65_536

/** Control tokens that stand around a turn in Command's template: its begin, its speaker, its end. */
const aroundTurn = 3

/** `/v1/tokenize` counts texts: what the model's template puts around them, and tools, can only be estimated. */
export const tokenQuestion: TokenQuestion = {
  exact: false,

  encode({ request }, target) {
    const said = requestTexts(request).map(({ text }) => text)
    const text = [...said, ...(request.tools ? [JSON.stringify(request.tools)] : [])].join('\n')
    if (text === '' || text.length > most) return undefined
    return {
      method: 'POST',
      url: `${rootOf(target)}/v1/tokenize`,
      headers: headersOf(target),
      body: JSON.stringify({ model: target.model, text }),
    }
  },

  decode(body, { request }) {
    const tokens = objectIn(body.toString('utf8'))?.tokens
    return Array.isArray(tokens) ? tokens.length + aroundTurn * (request.messages?.length ?? 0) : undefined
  },
}
