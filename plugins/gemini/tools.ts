import { badRequest, type JsonObject, type ModelRequest, type Tool } from '#kernel'
import { type Changes, isSpare, toolChoiceOf } from '#provider'
import type { Abilities } from './model.ts'
import { narrowed } from './schema.ts'

/** Tools of the provider's own, by the type that asks for them. */
const builtIn: ReadonlyMap<string, string> = new Map(
  Object.entries({
    google_search: 'googleSearch',
    code_execution: 'codeExecution',
    url_context: 'urlContext',
  }),
)

/** The fields of a request that are about tools. */
export function toolFields(
  { tools, tool_choice }: ModelRequest,
  abilities: Abilities,
  changes: Changes,
  usualMode?: Choice['mode'],
): Record<string, unknown> {
  const functions: object[] = []
  const others: object[] = []
  for (const [i, tool] of (tools ?? []).entries()) {
    const own = builtIn.get(tool.type)
    if (own !== undefined) others.push({ [own]: tool[tool.type] ?? {} })
    else if (isForeseen(tool)) others.push({ [camelCase(tool.type)]: tool[tool.type] })
    else if (isSpare(tool, tools ?? [])) changes.add(`-tools.${tool.type}`)
    else if (isSearch(tool)) {
      changes.add(`tools.${tool.type}->google_search`)
      others.push({ googleSearch: {} })
    } else functions.push(declarationOf(tool, `tools[${i}]`, abilities, changes))
  }
  const all = [...(functions.length > 0 ? [{ functionDeclarations: functions }] : []), ...others]
  const hasFunctions = functions.length > 0
  const config =
    choiceOf(tool_choice, hasFunctions) ?? (usualMode && hasFunctions ? { mode: usualMode } : undefined)
  return {
    ...(all.length > 0 && { tools: all }),
    ...(config && { toolConfig: { functionCallingConfig: config } }),
  }
}

/** Tools of Google's that are not known here: what they are stands under the name of their type, as its own wire has it. */
const isForeseen = ({ type, function: fn, ...own }: Tool): boolean =>
  fn === undefined && typeof own[type] === 'object' && Object.keys(own).length === 1 && type !== 'custom'

const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Anthropic's search. Not every model takes Google's beside functions. */
const isSearch = ({ type }: Tool): boolean => /^web_search_\d{8}$/.test(type)

function declarationOf(tool: Tool, at: string, { jsonSchema }: Abilities, changes: Changes): object {
  if (tool.type !== 'function' || !tool.function) {
    throw badRequest(`${at}.type: Gemini does not support tools of the type ${tool.type}.`, {
      param: `${at}.type`,
    })
  }
  const { type: _, function: fn, ...own } = tool
  for (const field of Object.keys(own)) changes.add(`-tools.${field}`)
  const { name, description, parameters, strict } = fn
  if (strict) changes.add('-tools.strict')
  return {
    name,
    ...(description !== undefined && { description }),
    ...(hasProperties(parameters) &&
      (jsonSchema
        ? { parametersJsonSchema: parameters }
        : { parameters: narrowed(parameters, (keyword) => changes.add(`-tools.parameters.${keyword}`)) })),
  }
}

/** A function without parameters has no schema: an object without properties is refused. */
function hasProperties(schema: JsonObject | undefined): schema is JsonObject {
  if (schema === undefined) return false
  const { properties, type, ...rest } = schema
  if (typeof properties === 'object' && properties !== null) return Object.keys(properties).length > 0
  return '$ref' in rest || 'anyOf' in rest || 'oneOf' in rest || 'allOf' in rest
}

interface Choice {
  readonly mode: 'AUTO' | 'ANY' | 'NONE' | 'VALIDATED'
  readonly allowedFunctionNames?: readonly string[]
}

function choiceOf(written: unknown, hasFunctions: boolean): Choice | undefined {
  const choice = toolChoiceOf(written)
  if (!choice) return undefined
  const { mode, names: allowedFunctionNames } = choice
  if (!hasFunctions) {
    if (mode === 'none' || written === 'auto') return undefined
    throw badRequest('tool_choice: there is no function to choose.', { param: 'tool_choice' })
  }
  if (mode === 'auto')
    return allowedFunctionNames ? { mode: 'VALIDATED', allowedFunctionNames } : { mode: 'AUTO' }
  if (mode === 'none') return { mode: 'NONE' }
  return { mode: 'ANY', ...(allowedFunctionNames && { allowedFunctionNames }) }
}
