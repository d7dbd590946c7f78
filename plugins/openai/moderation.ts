import { z } from 'zod'
import type { ModerationQuestion } from '#kernel'
import { objectIn } from '#provider'
import { headersOf } from './headers.ts'
import { quirksOf } from './quirks.ts'

const answer = z.object({
  results: z.array(z.object({ category_scores: z.record(z.string(), z.number().min(0).max(1)) })),
})

/** The gateway's categories by those of OpenAI, whose finer ones begin with them, and of Mistral. */
const categories: Readonly<Record<string, string>> = {
  hate: 'hate',
  harassment: 'harassment',
  sexual: 'sexual',
  violence: 'violence',
  'self-harm': 'self_harm',
  hate_and_discrimination: 'hate',
  violence_and_threats: 'violence',
  selfharm: 'self_harm',
}

/** The endpoint that OpenAI and Mistral have. */
export const moderationQuestion: ModerationQuestion = {
  encode: (texts, target) => ({
    method: 'POST',
    url: `${quirksOf(target.provider).base}/moderations`,
    headers: headersOf(target),
    body: JSON.stringify({ model: target.model, input: texts }),
  }),

  decode(body) {
    const { data } = answer.safeParse(objectIn(body.toString('utf8')))
    return data?.results.map(({ category_scores }) => {
      const scores: Record<string, number> = {}
      for (const [name, score] of Object.entries(category_scores)) {
        const category = categories[name.split('/')[0]!]
        if (category) scores[category] = Math.max(scores[category] ?? 0, score)
      }
      return scores
    })
  },
}
