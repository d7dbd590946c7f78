import { z } from 'zod'

const chances = z.array(
  z.looseObject({ token: z.string().optional(), logProbability: z.number().optional() }),
)

const part = z.looseObject({
  text: z.string().nullish(),
  thoughtSignature: z.string().optional(),
  functionCall: z.looseObject({ id: z.string().nullish(), name: z.string() }).nullish(),
  inlineData: z.looseObject({ mimeType: z.string(), data: z.string() }).nullish(),
  executableCode: z.looseObject({ language: z.string().optional(), code: z.string().optional() }).nullish(),
  codeExecutionResult: z.looseObject({ output: z.string().nullish() }).nullish(),
})

const candidate = z.looseObject({
  index: z.number().optional(),
  content: z.looseObject({ parts: z.array(part).nullish() }).nullish(),
  finishReason: z.string().nullish(),
  logprobsResult: z
    .looseObject({
      chosenCandidates: chances.optional(),
      topCandidates: z.array(z.looseObject({ candidates: chances.optional() })).optional(),
    })
    .nullish(),
})

/** The fields that a reader of answers relies on; the rest, usage included, is read with care. */
const answer = z.looseObject({
  candidates: z.array(candidate).nullish(),
  promptFeedback: z.looseObject({}).nullish(),
})

/** Whether an answer, or an event of one, has the shape that its reader relies on. */
export const isSound = (data: unknown): boolean => answer.safeParse(data).success
