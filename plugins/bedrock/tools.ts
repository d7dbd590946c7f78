import { badRequest, type ModelRequest, type Tool } from '#kernel'
import type { ToolNames } from './names.ts'
import { cachePoints, type Scene } from './parts.ts'
import { type Plan, schemaTool } from './plan.ts'

type Fields = Readonly<Record<string, unknown>>

interface WrittenChoice {
  readonly type?: unknown
  readonly function?: { readonly name?: unknown }
  readonly allowed_tools?: {
    readonly mode?: unknown
    readonly tools?: readonly { readonly function?: { readonly name?: unknown } }[]
  }
}

interface Choice {
  /** The only tools that may be used; all when undefined. */
  readonly names?: readonly unknown[]
  readonly mode: 'auto' | 'any' | 'tool' | 'none'
}

export interface ToolFields {
  readonly toolConfig?: Fields
  /** What goes to the model past the service: only there a single call at a time can be asked for. */
  readonly modelChoice?: Fields
  /** Whether a tool must be used. */
  readonly forced: boolean
}

/** Which tools there are, and how they are to be used. */
export function toolFields(request: ModelRequest, plan: Plan, scene: Scene): ToolFields {
  if (plan.schemaAsTool) {
    const spec = {
      name: schemaTool,
      description: 'Gives the answer.',
      inputSchema: { json: plan.schema!.body },
    }
    return {
      toolConfig: { tools: [{ toolSpec: spec }], toolChoice: { tool: { name: schemaTool } } },
      forced: true,
    }
  }
  const choice = choiceOf(request.tool_choice)
  const used = usedNames(request)
  const tools = (request.tools ?? []).flatMap((tool, i) => {
    const name = tool.function?.name
    if (choice.names && choice.mode !== 'tool' && !choice.names.includes(name)) return []
    return toolOf(tool, `tools.${i}`, plan, scene)
  })
  const forced = choice.mode !== 'auto'
  const isSingle = request.parallel_tool_calls === false && tools.length > 0
  // The service takes it of newer models, and only beside no choice of its own.
  const canBeSingle = plan.facts.maker === 'anthropic' && plan.facts.schema && !forced
  if (isSingle && !canBeSingle) scene.changes.add('-parallel_tool_calls')
  if (choice.mode === 'none') return withheld(tools, used, plan.names, scene)
  if (tools.length === 0) {
    if (forced) {
      throw badRequest('tool_choice: there is no such tool to choose.', { param: 'tool_choice' })
    }
    return withheld([], used, plan.names, scene)
  }
  return {
    toolConfig: { tools, ...(forced && { toolChoice: nativeChoice(choice, plan.names) }) },
    ...(isSingle && canBeSingle && { modelChoice: { type: 'auto', disable_parallel_tool_use: true } }),
    forced,
  }
}

/** Tools that may not be called are left out, unless the conversation has used some: it cannot go on without them. */
function withheld(
  tools: readonly Fields[],
  used: readonly string[],
  names: ToolNames,
  { changes }: Scene,
): ToolFields {
  if (used.length === 0) return { forced: false }
  changes.add(tools.length > 0 ? 'tool_choice:none->auto' : '+tools')
  const named = used.map((name) => ({
    toolSpec: { name: names.sent(name), inputSchema: { json: { type: 'object', properties: {} } } },
  }))
  return { toolConfig: { tools: tools.length > 0 ? tools : named }, forced: false }
}

function usedNames({ messages }: ModelRequest): string[] {
  const calls = (messages ?? []).flatMap(({ tool_calls }) => tool_calls ?? [])
  return [...new Set(calls.map((call) => call.function.name))]
}

function toolOf(tool: Tool, at: string, { names, facts }: Plan, scene: Scene): Fields[] {
  const { function: fn } = tool
  if (tool.type !== 'function' || !fn) {
    const param = `${at}.type`
    throw badRequest(`${param}: Bedrock has no tool of the type ${tool.type}; use functions.`, { param })
  }
  if (fn.strict && !facts.schema) scene.changes.add('-tools.strict')
  const toolSpec = {
    name: names.sent(fn.name),
    ...(fn.description && { description: fn.description }),
    inputSchema: { json: schemaOf(fn.parameters) },
    ...(fn.strict && facts.schema && { strict: true }),
  }
  return [{ toolSpec }, ...cachePoints(tool.cache_control, scene)] as Fields[]
}

const schemaOf = (parameters: Fields = { properties: {} }): Fields =>
  parameters.type === undefined ? { type: 'object', ...parameters } : parameters

const nativeChoice = ({ mode, names: chosen }: Choice, names: ToolNames): Fields =>
  mode === 'tool' ? { tool: { name: names.sent(String(chosen![0])) } } : { any: {} }

function choiceOf(choice: unknown): Choice {
  if (choice === undefined || choice === null || choice === 'auto') return { mode: 'auto' }
  if (choice === 'none') return { mode: 'none' }
  if (choice === 'required') return { mode: 'any' }
  const { type, function: fn, allowed_tools: allowed } = choice as WrittenChoice
  if (type === 'function' && typeof fn?.name === 'string') return { mode: 'tool', names: [fn.name] }
  if (type === 'allowed_tools' && Array.isArray(allowed?.tools)) {
    const names = allowed.tools.map((tool) => tool.function?.name)
    return { names, mode: allowed.mode === 'required' ? 'any' : 'auto' }
  }
  throw badRequest('tool_choice: expected auto, none, required, or the name of a function.', {
    param: 'tool_choice',
  })
}
