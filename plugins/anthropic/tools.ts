import { badRequest, type ModelRequest, type Tool } from '#kernel'
import type { ToolNames } from './names.ts'

type Fields = Readonly<Record<string, unknown>>

interface Options {
  readonly names: ToolNames
  /** Whether the model can be held to a schema. */
  readonly strict: boolean
  readonly report: (change: string) => void
}

/** Tools with their whole schemas; the service's own tools go as they came. */
export function toolsOf(tools: readonly Tool[], options: Options): Fields[] {
  return tools.map((tool, i) => toolOf(tool, `tools.${i}`, options))
}

function toolOf(tool: Tool, at: string, { names, strict, report }: Options): Fields {
  const { type, function: fn, ...own } = tool
  if (!fn) {
    if (own.custom !== undefined)
      throw badRequest('Anthropic takes functions with a JSON Schema, no custom tools.', { param: at })
    return tool
  }
  if (fn.strict && !strict) report('-tools.strict')
  return {
    name: names.sent(fn.name),
    ...(fn.description !== undefined && { description: fn.description }),
    input_schema: schemaOf(fn.parameters),
    ...(typeof fn.strict === 'boolean' && strict && { strict: fn.strict }),
    ...own,
  }
}

const schemaOf = (parameters: Fields = { properties: {} }): Fields =>
  parameters.type === undefined ? { type: 'object', ...parameters } : parameters

/** Which tool to use, and whether several at a time; undefined where the service's default says the same. */
export function toolChoiceOf(
  { tool_choice: choice, parallel_tool_calls: parallel }: ModelRequest,
  names: ToolNames,
  report: (change: string) => void,
): Fields | undefined {
  const native = nativeChoice(choice, names)
  if (choice !== undefined && choice !== null && !native) report('-tool_choice')
  if (parallel !== false || native?.type === 'none') return native
  return { ...(native ?? { type: 'auto' }), disable_parallel_tool_use: true }
}

function nativeChoice(choice: unknown, names: ToolNames): Fields | undefined {
  if (choice === 'required') return { type: 'any' }
  if (choice === 'auto' || choice === 'none') return { type: choice }
  if (typeof choice !== 'object' || choice === null) return undefined
  const { type, function: fn } = choice as { type?: unknown; function?: { name?: string } }
  if (type === 'function' && fn?.name !== undefined) return { type: 'tool', name: names.sent(fn.name) }
  return undefined
}

/** The tools that a conversation used: it cannot be gone on with unless they are named. */
export function toolsOfHistory({ messages }: ModelRequest, names: ToolNames): Fields[] {
  const used = new Set(
    (messages ?? []).flatMap(({ tool_calls }) => (tool_calls ?? []).map((call) => call.function.name)),
  )
  return [...used].map((name) => ({
    name: names.sent(name),
    input_schema: { type: 'object', properties: {} },
  }))
}
