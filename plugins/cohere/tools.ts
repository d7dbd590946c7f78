import { badRequest, type ModelRequest, type Tool } from '#kernel'
import { type Changes, isSpare, parametersSchema, type ToolChoice, toolChoiceOf } from '#provider'

/** Which tools a call may use, and whether it must: only all of them can be demanded, so others are left out. */
export function toolFields({ tools, tool_choice, strict_tools }: ModelRequest, changes: Changes): object {
  const { mode, names }: ToolChoice = toolChoiceOf(tool_choice) ?? { mode: 'auto' }
  const demand = mode === 'auto' ? undefined : mode === 'none' ? 'NONE' : 'REQUIRED'
  const all = (tools ?? []).flatMap((tool, i) => {
    if (!isSpare(tool, tools ?? [])) return [functionOf(tool, `tools[${i}]`, changes)]
    changes.add(`-tools.${tool.type}`)
    return []
  })
  const some = names ? all.filter(({ name }) => names.includes(name)) : all
  if (some.length === 0) {
    if (demand !== 'REQUIRED' && !names) return {}
    throw badRequest('tool_choice: there is no such function to choose.', { param: 'tool_choice' })
  }
  const strict = some.filter((fn) => fn.strict)
  if (strict.length > 0 && strict.length < some.length) changes.add('-tools.strict')
  return {
    tools: some.map(({ name, description, parameters }) => ({
      type: 'function',
      function: {
        name,
        ...(description !== undefined && { description }),
        parameters: parametersSchema(parameters),
      },
    })),
    ...(demand !== undefined && { tool_choice: demand }),
    ...(strict_tools === undefined && strict.length === some.length && { strict_tools: true }),
  }
}

function functionOf(tool: Tool, at: string, changes: Changes): NonNullable<Tool['function']> {
  const { type, function: fn, ...own } = tool
  if (type === 'function' && fn) {
    for (const field of Object.keys(own)) changes.add(`-tools.${field}`)
    return fn
  }
  throw badRequest(`${at}.type: Cohere does not support tools of the type ${tool.type}.`, {
    param: `${at}.type`,
  })
}
