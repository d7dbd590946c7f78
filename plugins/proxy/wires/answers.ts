import { z } from 'zod'
import type { EventShape } from '#kernel'

/** The shapes of OpenAI's answers, as far as clients may rely on them with every provider. */

const usage = z.looseObject({ prompt_tokens: z.number(), total_tokens: z.number() }).nullish()
const ended = z.string().nullish()

const choice = z.looseObject({
  index: z.int(),
  message: z.looseObject({ role: z.string() }),
  finish_reason: ended,
})
const textChoice = z.looseObject({ index: z.int(), text: z.string(), finish_reason: ended })

export const chatAnswer = z.looseObject({ choices: z.array(choice), usage })
export const textAnswer = z.looseObject({ choices: z.array(textChoice), usage })
export const embeddingAnswer = z.looseObject({
  object: z.literal('list'),
  data: z.array(z.looseObject({ index: z.int() })),
  usage,
})

const delta = z.looseObject({ index: z.int(), delta: z.looseObject({}).optional(), finish_reason: ended })
const textDelta = z.looseObject({ index: z.int(), text: z.string().optional(), finish_reason: ended })

/** The end of a stream that fails on the way. */
const failed = z.looseObject({ error: z.looseObject({ code: z.string(), message: z.string() }) })

const eventsOf = (piece: z.ZodType): EventShape[] => [
  { data: z.looseObject({ choices: z.array(piece), usage }) },
  { data: failed },
  { data: '[DONE]' },
]

export const chatEvents = eventsOf(delta)
export const textEvents = eventsOf(textDelta)
