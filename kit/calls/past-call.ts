import type { TraceReader, TraceSummary } from '../../contract/traces.ts'
import type { Principal } from '../../kernel/call/call.ts'
import type { CallOptions, MadeCall } from '../../kernel/contract/calls.ts'
import type { Completion, ModelRequest } from '../canonical/forms.ts'
import { badRequest, notFound } from '../errors.ts'
import { scopeOf } from '../http/viewer.ts'

/** A call of the past that can be made again, and its answer. */
export interface PastCall {
  readonly trace: TraceSummary
  readonly request: ModelRequest
  readonly response: Completion
}

/**
 * The call, if the caller may make it again; `param` is the field that names it. Throws 404 for one that the caller cannot know of,
 * 422 for one that is not there whole, and 403 for a key that belongs to no user.
 */
export async function pastCallOf(
  traces: TraceReader,
  id: string,
  caller: Principal,
  param: string,
): Promise<PastCall> {
  const impossible = (message: string) => badRequest(message, { status: 422, type: 'not_replayable', param })
  const user = scopeOf(caller)
  const trace = await traces.get(id)
  if (!trace || (user !== undefined && trace.user_id !== user))
    throw notFound(`There is no call ${id}; it is known a moment after its answer.`, { param })
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

/** Modules that answer from an answer of before, or of a call that runs at the moment. */
export const answeringFromMemory = ['playback', 'cachelayer', 'semanticcache', 'embedcache', 'inflight']

/** The user whose words a call has: its caller, or who said what it repeats. */
export const sourceUserOf = (trace: Pick<TraceSummary, 'user_id' | 'source_user_id'>): string | undefined =>
  trace.source_user_id ?? trace.user_id

/** Modules that have put something into the stored request of a call. Where that is asked again, they would put it in twice. */
export const addingTo = ({ facts }: Pick<TraceSummary, 'facts'>): readonly string[] =>
  facts.contextpack === undefined ? [] : ['contextpack']

/** What has the answer translated as it was for the client: the stored question is in the language that the model was asked in. */
function languageAsked({ facts }: TraceSummary): Pick<CallOptions, 'headers'> {
  const { from } = (facts.langbridge ?? {}) as { readonly from?: unknown }
  return typeof from === 'string' ? { headers: { 'x-answer-language': from } } : {}
}

/**
 * The model of a call that is made again: by the name that its client used, unless that was a template. The stored request has the
 * messages of the template already.
 */
export const modelAskedAgain = ({ trace, request }: Pick<PastCall, 'trace' | 'request'>): string =>
  trace.model_requested.startsWith('template:') ? request.model : trace.model_requested

/**
 * Makes a call of the past again, with this request: in the same project with the same tags, past the caches and past modules that
 * have added to the request already, and to be answered in the same language.
 */
export function repeatCall(
  call: (request: ModelRequest, options: CallOptions) => MadeCall,
  trace: TraceSummary,
  request: ModelRequest,
  caller: Pick<CallOptions, 'as' | 'ip' | 'signal'>,
): MadeCall {
  const { id: parent, project, tags } = trace
  const sourceUser = sourceUserOf(trace)
  const skip = [...answeringFromMemory, ...addingTo(trace)]
  return call(request, {
    ...caller,
    ...{ source: 'replay', parent, project, tags, skip },
    ...languageAsked(trace),
    ...(sourceUser !== undefined && { sourceUser }),
  })
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
