import type { TokenQuestion } from '#kernel'
import { Changes, objectIn } from '#provider'
import { chatBody } from './body.ts'
import { pathOf } from './model.ts'
import { quirksOf } from './quirks.ts'
import { headersOf, rootOf } from './request.ts'

/** The fields of a bare question; the rest of a request changes nothing about its prompt. */
interface Bare {
  readonly contents?: unknown
  readonly systemInstruction?: unknown
  readonly tools?: unknown
  readonly generationConfig?: unknown
}

/** `models.countTokens`: the whole request, with its instructions and tools. */
export const tokenQuestion: TokenQuestion = {
  exact: true,

  encode(call, target) {
    const quirks = quirksOf(target.provider)
    const path = pathOf(target.model, quirks)
    const request = chatBody(call, target, new Changes(call))
    const { contents, systemInstruction, tools, generationConfig }: Bare = request
    return {
      method: 'POST',
      url: `${rootOf(target)}/${path}:countTokens`,
      headers: headersOf(target),
      body: JSON.stringify(
        quirks.counts_bare
          ? { contents, systemInstruction, tools, generationConfig }
          : { generateContentRequest: { model: path, ...request } },
      ),
    }
  },

  decode: (body) => objectIn(body.toString('utf8'))?.totalTokens as number | undefined,
}
