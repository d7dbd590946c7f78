import type { Places } from './places.ts'
import type { Fields, Item, ResponsesBody } from './schema.ts'
import type { Toolbox } from './toolbox.ts'

/** The facts of a response that are known before there is an answer. */
export interface Asked {
  /** The response's own id; those of its items are made from it. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly model: string
  /** The fields of the request that the response repeats. */
  readonly repeated: Fields
  /** Where the request's messages and tools come from. */
  readonly places: Places
  readonly toolbox: Toolbox
  /** Takes the whole response, before its end is sent. */
  readonly keep: ((response: Response) => void) | undefined
}

export interface Response {
  readonly id: string
  readonly object: 'response'
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly output: readonly Item[]
  readonly [field: string]: unknown
}

/** The request's fields as a response repeats them, with what stands for those that were left out. */
export function repeatedOf(body: ResponsesBody, store: boolean): Fields {
  return {
    background: false,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    ...(body.prompt_cache_key != null && { prompt_cache_key: body.prompt_cache_key }),
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    ...(body.safety_identifier != null && { safety_identifier: body.safety_identifier }),
    service_tier: body.service_tier ?? 'auto',
    store,
    temperature: body.temperature ?? null,
    text: { ...body.text, format: body.text?.format ?? { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? null,
    truncation: body.truncation ?? 'disabled',
    user: body.user ?? null,
  }
}
