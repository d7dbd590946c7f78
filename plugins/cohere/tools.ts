import { badRequest, type ModelRequest, type Tool } from '#kernel'
import type { Changes } from '#kit'

interface WrittenChoice {
  readonly type?: unknown
  readonly function?: { readonly name?: unknown }
  readonly allowed_tools?: {
    readonly mode?: unknown
    readonly tools?: readonly { readonly function?: { readonly name?: unknown } }[]
  }
}

/** Which tools a call may use, and whether it must: only all of them can be demanded, so others are left out. */
export function toolFields({ tools, tool_choice, strict_tools }: ModelRequest, changes: Changes): object {
  const { names, demand } = choiceOf(tool_choice)
  const all = (tools ?? []).map((tool, i) => functionOf(tool, `tools[${i}]`, changes))
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
        parameters: parameters ?? { type: 'object', properties: {} },
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
  throw badRequest(`${at}.type: Cohere has no tool of the type ${tool.type}.`, { param: `${at}.type` })
}

function choiceOf(choice: unknown): { names?: readonly unknown[]; demand?: 'REQUIRED' | 'NONE' } {
  if (choice === undefined || choice === null || choice === 'auto') return {}
  if (choice === 'none') return { demand: 'NONE' }
  if (choice === 'required') return { demand: 'REQUIRED' }
  const { type, function: fn, allowed_tools: allowed } = choice as WrittenChoice
  if (type === 'function' && typeof fn?.name === 'string') return { names: [fn.name], demand: 'REQUIRED' }
  if (type === 'allowed_tools' && Array.isArray(allowed?.tools)) {
    const names = allowed.tools.map((tool) => tool.function?.name)
    return { names, ...(allowed.mode === 'required' && { demand: 'REQUIRED' }) }
  }
  throw badRequest('tool_choice: expected auto, none, required, or the name of a function.', {
    param: 'tool_choice',
  })
}
