import { z } from 'zod'
import { badRequest } from '#kernel'
import { modelAskedAgain, type PastCall } from '#kit'
import { matchMethods } from './compare.ts'

const id = z.string().min(1).max(100)
const name = z.string().min(1).max(256)

/** The form of a question for a replay. */
export const replayInput = z.strictObject({
  original_trace_id: id.optional().meta({ description: 'From the header X-Trace-Id of the answer.' }),
  original_request_id: id.optional().meta({ description: 'Another name for original_trace_id.' }),
  provider: name.optional().meta({ description: 'Where to ask; as the model says without it.' }),
  model: name.optional().meta({ description: 'The model to ask; the original one without it.' }),
  purpose: z.string().min(1).max(1000).optional().meta({ description: 'For people.' }),
  match_method: z
    .enum([...matchMethods, 'judge'])
    .optional()
    .meta({
      description:
        'How answers are compared: `exact`, `json` (the share of equal values), or `semantic` (the share of words and pairs of words that they have in common, which knows no meaning). `judge` is not there. Without it, `json` for an answer that is JSON, else `semantic`.',
    }),
})

/** The call that is to be replayed, by either of its names. */
export function traceIdIn({
  original_trace_id: trace,
  original_request_id: request,
}: z.infer<typeof replayInput>): string {
  if (trace !== undefined && request !== undefined && trace !== request)
    throw badRequest(
      'body original_request_id: it is another name for original_trace_id; send one of them.',
      {
        param: 'original_request_id',
      },
    )
  const said = trace ?? request
  if (said === undefined)
    throw badRequest('body original_trace_id: name the call.', { param: 'original_trace_id' })
  return said
}

/** The model that is asked: the original one by the name that its client used, unless another one or a provider is named. */
export function modelFor({ provider, model }: z.infer<typeof replayInput>, original: PastCall): string {
  if (provider === undefined) return model ?? modelAskedAgain(original)
  return `${provider}/${model ?? original.trace.model}`
}
