import type { Call, ModelRequest, Target } from '#kernel'
import { tokenLimit } from '#kit'
import { Changes, reportUnsaid, type ToolChoice, toolChoiceOf } from '#provider'
import { conversationOf } from './conversation.ts'
import { marked } from './fit.ts'
import { ownParams, refuseChoices, samplingOf, stopsOf } from './params.ts'
import { type Plan, planOf, schemaTool } from './plan.ts'
import { thinkingOf } from './thinking.ts'
import { nativeChoice, toolsOf, toolsOfHistory } from './tools.ts'

type Fields = Record<string, unknown>
type Report = (change: string) => void

/** The body of a Messages request. A field that it cannot carry is refused, or named in the call's trace. */
export function bodyOf(call: Call, target: Target): Fields {
  const { request } = call
  const plan = planOf(call, target)
  const changes = new Changes(call)
  const report: Report = (change) => changes.add(change)
  refuseChoices(request)
  reportUnsaid(call, changes)
  const maxTokens = tokenLimit(request) ?? plan.facts.maxOutput
  const { system, turns } = conversationOf(request.messages ?? [], { ...plan, changes })
  const body: Fields = {
    ...ownParams(request, plan.native, report),
    model: target.model,
    max_tokens: maxTokens,
    ...(system !== undefined && { system }),
    messages: turns,
    ...toolFields(request, plan, report),
    ...stopsOf(request, plan.native, report),
    ...(call.stream && { stream: true }),
  }
  relaxChoice(body, request, plan, report)
  const choice = body.tool_choice as { type?: string } | undefined
  const forced = isForced(choice)
  const thinking = thinkingOf(request, plan.facts, { maxTokens, turns, forced, fit: plan.fit })
  if (thinking?.thinking) body.thinking ??= thinking.thinking
  if (!thinking && isAsked(request.reasoning_effort)) report('-reasoning_effort')
  const thinks =
    (body.thinking as { type?: string } | undefined)?.type !== 'disabled' && body.thinking !== undefined
  Object.assign(body, samplingOf(request, plan.facts, { native: plan.native, thinks, report }))
  addOutputConfig(body, plan, thinking?.effort, report)
  addUser(body, request)
  return marked(body, plan.fit)
}

const isForced = (choice: { type?: string } | undefined): boolean =>
  choice?.type === 'any' || choice?.type === 'tool'

/** Lets the model choose among its tools, where it is rather to think than to be forced. */
function relaxChoice(body: Fields, { reasoning_effort }: ModelRequest, plan: Plan, report: Report): void {
  const choice = body.tool_choice as { type?: string } | undefined
  const thinks = plan.facts.thinking !== 'none' && isAsked(reasoning_effort)
  if (plan.fit.forced_tools !== 'as_auto' || !thinks || plan.schemaAsTool || !isForced(choice)) return
  const { disable_parallel_tool_use: alone } = choice as { disable_parallel_tool_use?: boolean }
  body.tool_choice = { type: 'auto', ...(alone && { disable_parallel_tool_use: true }) }
  report(`tool_choice:${choice!.type}->auto`)
}

const isAsked = (effort: unknown): boolean => effort !== undefined && effort !== null && effort !== 'none'

function toolFields(request: ModelRequest, plan: Plan, report: Report): Fields {
  const { native, facts } = plan
  if (plan.schemaAsTool) {
    const tool = { name: schemaTool, description: 'Gives the answer.', input_schema: plan.form!.schema }
    return { tools: [tool], tool_choice: { type: 'tool', name: schemaTool } }
  }
  const choice = toolChoiceOf(request.tool_choice)
  const offered = (request.tools ?? []).filter(({ function: fn }) => isOffered(fn?.name, choice))
  const tools = toolsOf(offered, { strict: native || facts.schema === true, report })
  if (tools.length > 0) {
    const tool_choice = nativeChoice(choice, request)
    return { tools, ...(tool_choice && { tool_choice }) }
  }
  const used = native ? [] : toolsOfHistory(request)
  if (used.length === 0) return {}
  report('+tools')
  return { tools: used, tool_choice: { type: 'none' } }
}

/** Tools are held back where a choice names others that may be called; the service knows one by name, or all. */
const isOffered = (name: string | undefined, choice: ToolChoice | undefined): boolean =>
  choice?.names === undefined || choice.mode === 'one' || choice.names.some((one) => one === name)

/** A client of the protocol may still say what is in `output_config.format` now with a field of its own. */
function addOutputConfig(body: Fields, { form }: Plan, effort: string | undefined, report: Report): void {
  const { schema, way, changes = [] } = form ?? {}
  if (body.output_format && (body.output_format as Fields).schema !== schema) delete body.output_format
  const isCarried = body.output_format !== undefined
  const format = way === 'native' && !isCarried ? { type: 'json_schema', schema } : undefined
  for (const change of changes) report(`response_format.schema:${change}`)
  if (!format && effort === undefined) return
  body.output_config = {
    ...(effort !== undefined && { effort }),
    ...(body.output_config as Fields | undefined),
    ...(format && { format }),
  }
}

function addUser(body: Fields, { user, safety_identifier: safety }: ModelRequest): void {
  const id = user ?? safety
  if (typeof id === 'string') body.metadata = { ...(body.metadata as Fields | undefined), user_id: id }
}
