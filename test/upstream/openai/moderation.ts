import { z } from 'zod'
import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import type { Answer } from '../wire.ts'
import { plain } from './answer.ts'

const BODY = z.object({
  model: z.string().default('omni-moderation-latest'),
  input: z.union([z.string().transform((one) => [one]), z.array(z.string())]),
})

const CATEGORIES = [
  'hate',
  'hate/threatening',
  'harassment',
  'self-harm',
  'sexual',
  'sexual/minors',
  'violence',
  'illicit',
]

/** Moderations: a text scores 0.9 for each category that it names in brackets, such as `[self-harm]`. */
export function respondToModeration(request: RecordedRequest, script: Script): Answer {
  return plain(request, script, () => {
    const { model, input } = BODY.parse(request.body)
    const results = input.map((text) => {
      const scores = CATEGORIES.map((name) => [name, text.includes(`[${name}]`) ? 0.9 : 0.01] as const)
      return {
        flagged: scores.some(([, score]) => score > 0.5),
        categories: Object.fromEntries(scores.map(([name, score]) => [name, score > 0.5])),
        category_scores: Object.fromEntries(scores),
      }
    })
    return { id: 'modr-1', model, results }
  })
}
