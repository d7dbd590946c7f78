import { z } from 'zod'
import type { Call } from '../../kernel/call/call.ts'
import type { CallOptions, MadeCall } from '../../kernel/contract/calls.ts'
import { collect } from '../../kernel/stream/collect.ts'
import type { ModelRequest } from '../canonical/forms.ts'
import { callProblem } from './call-problem.ts'
import { storedPrincipal, storePrincipal } from './stored-principal.ts'

/** A call that is to be made later in the name of its caller: plain JSON, and all of what it says. Keep it where it is sealed. */
export const deferredCall = z.object({
  request: z.custom<ModelRequest>((value) => typeof value === 'object' && value !== null),
  principal: storedPrincipal,
  ip: z.string(),
  project: z.string(),
  tags: z.record(z.string(), z.string()),
  session: z.string().optional(),
  /** The trace of the call that was put off. */
  parent: z.string(),
})
export type DeferredCall = z.infer<typeof deferredCall>

/** What came of it: the answer in the form of chats, or why there is none. */
export const deferredResult = z.object({
  trace_id: z.string().nullable().meta({ description: 'The trace of the call that was made.' }),
  response: z.record(z.string(), z.unknown()).nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
})
export type DeferredResult = z.infer<typeof deferredResult>

/** Puts a call off. Its answer will be a whole one. */
export function deferCall({ id: parent, principal, request, context }: Call): DeferredCall {
  const { stream: _, stream_options: __, ...asked } = request
  const { ip, project, tags, sessionId: session } = context
  return {
    request: asked,
    principal: storePrincipal(principal),
    ip,
    project,
    tags: { ...tags },
    ...(session !== undefined && { session }),
    parent,
  }
}

/** Makes calls that were put off, and knows them while they run, so that a module does not put them off again. */
export class DeferredCalls {
  readonly #make: (request: ModelRequest, options: CallOptions) => MadeCall
  readonly #running = new Set<string>()

  constructor(make: (request: ModelRequest, options: CallOptions) => MadeCall) {
    this.#make = make
  }

  /** Whether the call of this id is one that was put off. */
  has(id: string): boolean {
    return this.#running.has(id)
  }

  /** Resolves with what came of it; an error that `isPassing` is thrown, as is that of a signal that aborts. */
  async make(
    { request, principal, session, ...context }: DeferredCall,
    signal: AbortSignal,
    isPassing: (error: unknown) => boolean = () => false,
  ): Promise<DeferredResult> {
    const made = this.#make(request, {
      as: { userId: undefined, tenant: undefined, ...principal },
      source: 'batch',
      ...context,
      ...(session !== undefined && { session }),
      signal,
    })
    this.#running.add(made.id)
    try {
      const response = { ...(await collect(await made.reply)) }
      return { trace_id: made.id, response, error: null }
    } catch (error) {
      signal.throwIfAborted()
      if (isPassing(error)) throw error
      return { trace_id: made.id, response: null, error: callProblem(error) }
    } finally {
      this.#running.delete(made.id)
    }
  }
}
