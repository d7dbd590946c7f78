import { badRequest, type JsonObject, type ModelRequest, type Tool } from '#kernel'

/** Which functions may be called, and whether one must be. */
export interface ToolChoice {
  /** `one` must be called, and which is in `names`. */
  readonly mode: 'auto' | 'none' | 'required' | 'one'
  /** The only functions that may be called; all of them when undefined. */
  readonly names?: readonly string[]
}

interface Written {
  readonly type?: unknown
  readonly function?: { readonly name?: unknown }
  readonly allowed_tools?: {
    readonly mode?: unknown
    readonly tools?: readonly { readonly function?: { readonly name?: unknown } }[]
  }
}

/** A `tool_choice` of OpenAI's, taken apart; undefined where nothing is said. Throws a bad request for another form. */
export function toolChoiceOf(choice: unknown): ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { mode: choice }
  const { type, function: fn, allowed_tools: allowed } = choice as Written
  if (type === 'function' && typeof fn?.name === 'string') return { mode: 'one', names: [fn.name] }
  if (type === 'allowed_tools' && Array.isArray(allowed?.tools)) {
    const names = allowed.tools.map((tool) => String(tool.function?.name))
    return { mode: allowed.mode === 'required' ? 'required' : 'auto', names }
  }
  throw badRequest('tool_choice: expected auto, none, required, or the name of a function.', {
    param: 'tool_choice',
  })
}

/** The functions that the calls in a conversation name, each once. */
export function calledFunctions({ messages }: ModelRequest): string[] {
  const calls = (messages ?? []).flatMap(({ tool_calls }) => tool_calls ?? [])
  return [...new Set(calls.flatMap((call) => call.function?.name ?? []))]
}

/** The schema of a function's parameters, with the outermost type that providers require. */
export const parametersSchema = (parameters: JsonObject = { properties: {} }): JsonObject =>
  parameters.type === undefined ? { type: 'object', ...parameters } : parameters

/**
 * Whether a tool is one that a service runs itself, offered beside functions: an answer can be had without it where there
 * is no such service. A request that offers nothing else is for it, and an answer would only make believe.
 */
export const isSpare = ({ function: fn, custom }: Tool, offered: readonly Tool[]): boolean =>
  fn === undefined && custom === undefined && offered.some((tool) => tool.function !== undefined)
