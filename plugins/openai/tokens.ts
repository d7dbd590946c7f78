import type { TokenQuestion } from '#kernel'
import { objectIn } from '#provider'
import { bodyOf } from './body.ts'
import { headersOf } from './headers.ts'
import { quirksOf } from './quirks.ts'
import { numberAt } from './usage.ts'

/** The fields that make up a prompt; the endpoints refuse or ignore the rest of a request. */
interface Asked {
  readonly model?: unknown
  readonly messages?: unknown
  readonly tools?: unknown
  readonly chat_template_kwargs?: unknown
}

/** The counting endpoints of compatible providers, where their manifests name one: by the model's own template. */
export const tokenQuestion: TokenQuestion = {
  exact: true,

  encode(call, target) {
    const { base, counts } = quirksOf(target.provider)
    if (!counts) return undefined
    const { model, messages, tools, chat_template_kwargs }: Asked = bodyOf(call, target)
    return {
      method: 'POST',
      url: (counts.beside ? base.replace(/\/v1$/, '') : base) + counts.path,
      headers: headersOf(target),
      body: JSON.stringify({ model, messages, tools, chat_template_kwargs }),
    }
  },

  decode(body, _, { provider }) {
    const field = quirksOf(provider).counts?.field
    return field === undefined ? undefined : numberAt(objectIn(body.toString('utf8')), field)
  },

  // Servers that are like the one that counts need not count.
  declines: ({ status }) => status === 404 || status === 405 || status === 501,
}
