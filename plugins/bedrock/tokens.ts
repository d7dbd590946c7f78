import type { TokenQuestion } from '#kernel'
import { objectIn } from '#provider'
import { bodyOf } from './body.ts'
import { type Download, messagesOf } from './download.ts'
import { requestTo, segmentOf } from './endpoint.ts'
import { baseOf, factsOf } from './models.ts'

/**
 * `CountTokens`, which some of Anthropic's models have: those that can be had without a profile. It is asked by the name
 * of the model itself, since it knows no profiles; the model behind an operator's own profile is not known.
 */
export const tokenQuestion = (download: Download): TokenQuestion => ({
  exact: true,

  async encode(call, target) {
    if (factsOf(target.model).maker !== 'anthropic') return undefined
    const body = bodyOf(call, target, await messagesOf(call, download))
    const { messages, system, toolConfig, additionalModelRequestFields } = body
    const converse = { messages, system, toolConfig, additionalModelRequestFields }
    return requestTo(target, {
      method: 'POST',
      path: `/model/${segmentOf(baseOf(target.model))}/count-tokens`,
      accept: 'application/json',
      body: JSON.stringify({ input: { converse } }),
    })
  },

  decode: (body) => objectIn(body.toString('utf8'))?.inputTokens as number | undefined,

  declines: ({ status }, body) =>
    status === 400 && /support(?:s|ed)? counting tokens/.test(body.toString('utf8')),
})
