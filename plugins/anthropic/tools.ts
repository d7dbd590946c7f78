import { badRequest, type ModelRequest, type Tool } from '#kernel'
import { calledFunctions, parametersSchema, type ToolChoice } from '#provider'

type Fields = Readonly<Record<string, unknown>>

interface Options {
  /** Whether the model can be held to a schema. */
  readonly strict: boolean
  readonly report: (change: string) => void
}

/** Tools with their whole schemas; the service's own tools go as they came. */
export function toolsOf(tools: readonly Tool[], options: Options): Fields[] {
  return tools.map((tool, i) => toolOf(tool, `tools.${i}`, options))
}

function toolOf(tool: Tool, at: string, { strict, report }: Options): Fields {
  const { type, function: fn, ...own } = tool
  if (!fn) {
    if (own.custom !== undefined)
      throw badRequest('Anthropic accepts functions with a JSON Schema, not custom tools.', { param: at })
    return tool
  }
  if (fn.strict && !strict) report('-tools.strict')
  return {
    name: fn.name,
    ...(fn.description !== undefined && { description: fn.description }),
    input_schema: parametersSchema(fn.parameters),
    ...(typeof fn.strict === 'boolean' && strict && { strict: fn.strict }),
    ...own,
  }
}

/** Which tool to use, and whether several at a time; undefined where the service's default says the same. */
export function nativeChoice(
  choice: ToolChoice | undefined,
  { parallel_tool_calls: parallel }: ModelRequest,
): Fields | undefined {
  const native = choice && nativeForm(choice)
  if (parallel !== false || native?.type === 'none') return native
  return { ...(native ?? { type: 'auto' }), disable_parallel_tool_use: true }
}

function nativeForm({ mode, names }: ToolChoice): Fields {
  if (mode === 'one') return { type: 'tool', name: names![0]! }
  return { type: mode === 'required' ? 'any' : mode }
}

/** The tools that a conversation used: it cannot be gone on with unless they are named. */
export const toolsOfHistory = (request: ModelRequest): Fields[] =>
  calledFunctions(request).map((name) => ({
    name: name,
    input_schema: { type: 'object', properties: {} },
  }))
