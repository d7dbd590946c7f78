import {
  badRequest,
  type Completion,
  type ModelRequest,
  notFound,
  type Principal,
  type TraceReader,
  type TraceSummary,
} from '#kernel'

/** A call of the past that can be made again, and what it was answered. */
export interface Original {
  readonly trace: TraceSummary
  readonly request: ModelRequest
  readonly response: Completion
}

/** The call, if the caller may replay it. Throws 404 for one that it cannot know of, and 422 for one that is not there whole. */
export async function originalOf(
  traces: TraceReader,
  id: string,
  { type, userId }: Principal,
): Promise<Original> {
  const trace = await traces.get(id)
  if (!trace || (type === 'user' && trace.user_id !== userId))
    throw notFound(`There is no call ${id}; it is known a moment after its answer.`, {
      param: 'original_trace_id',
    })
  if (trace.operation === 'embedding')
    throw impossible('Embeddings cannot be compared in this way; replay a chat or a completion.')
  const { request, response, truncated = [] } = (await traces.bodies(id)) ?? {}
  if (truncated.length > 0)
    throw impossible('The call was too large to be stored whole, so it cannot be replayed.')
  if (!isObject(request)) throw impossible('The body of the call is not stored, so it cannot be replayed.')
  if (!isObject(response) || !Array.isArray(response.choices))
    throw impossible('The call has no stored answer to compare with.')
  return { trace, request: request as unknown as ModelRequest, response: response as Completion }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const impossible = (message: string) =>
  badRequest(message, { status: 422, type: 'not_replayable', param: 'original_trace_id' })
