import { badRequest, type ModelRequest, type Tool } from '#kernel'
import { calledFunctions, isSpare, parametersSchema, type ToolChoice, toolChoiceOf } from '#provider'
import { cachePoints, type Scene } from './parts.ts'
import { type Plan, schemaTool } from './plan.ts'

type Fields = Readonly<Record<string, unknown>>

export interface ToolFields {
  readonly toolConfig?: Fields
  /** The fields for the model that the service passes through: only there can a request ask for a single call at a time. */
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
      inputSchema: { json: plan.form!.schema!.body },
    }
    return {
      toolConfig: { tools: [{ toolSpec: spec }], toolChoice: { tool: { name: schemaTool } } },
      forced: true,
    }
  }
  const choice: ToolChoice = toolChoiceOf(request.tool_choice) ?? { mode: 'auto' }
  const used = calledFunctions(request)
  const tools = (request.tools ?? []).flatMap((tool, i) => {
    const name = tool.function?.name
    if (choice.names && choice.mode !== 'one' && !choice.names.some((one) => one === name)) return []
    if (isSpare(tool, request.tools ?? [])) {
      scene.changes.add(`-tools.${tool.type}`)
      return []
    }
    return toolOf(tool, `tools.${i}`, plan, scene)
  })
  const forced = choice.mode !== 'auto'
  const isSingle = request.parallel_tool_calls === false && tools.length > 0
  // The service takes it of newer models, and only beside no choice of its own.
  const canBeSingle = plan.facts.maker === 'anthropic' && plan.facts.schema && !forced
  if (isSingle && !canBeSingle) scene.changes.add('-parallel_tool_calls')
  if (choice.mode === 'none') return withheld(tools, used, scene)
  if (tools.length === 0) {
    if (forced) {
      throw badRequest('tool_choice: there is no such tool to choose.', { param: 'tool_choice' })
    }
    return withheld([], used, scene)
  }
  return {
    toolConfig: { tools, ...(forced && { toolChoice: nativeChoice(choice) }) },
    ...(isSingle && canBeSingle && { modelChoice: { type: 'auto', disable_parallel_tool_use: true } }),
    forced,
  }
}

/** Tools that may not be called are left out, unless the conversation has used some: it cannot go on without them. */
function withheld(tools: readonly Fields[], used: readonly string[], { changes }: Scene): ToolFields {
  if (used.length === 0) return { forced: false }
  changes.add(tools.length > 0 ? 'tool_choice:none->auto' : '+tools')
  const named = used.map((name) => ({
    toolSpec: { name: name, inputSchema: { json: { type: 'object', properties: {} } } },
  }))
  return { toolConfig: { tools: tools.length > 0 ? tools : named }, forced: false }
}

function toolOf(tool: Tool, at: string, { facts }: Plan, scene: Scene): Fields[] {
  const { function: fn } = tool
  if (tool.type !== 'function' || !fn) {
    const param = `${at}.type`
    throw badRequest(`${param}: Bedrock does not support tools of the type ${tool.type}; use functions.`, {
      param,
    })
  }
  if (fn.strict && !facts.schema) scene.changes.add('-tools.strict')
  const toolSpec = {
    name: fn.name,
    ...(fn.description && { description: fn.description }),
    inputSchema: { json: parametersSchema(fn.parameters) },
    ...(fn.strict && facts.schema && { strict: true }),
  }
  return [{ toolSpec }, ...cachePoints(tool.cache_control, scene)] as Fields[]
}

const nativeChoice = ({ mode, names }: ToolChoice): Fields =>
  mode === 'one' ? { tool: { name: names![0]! } } : { any: {} }
