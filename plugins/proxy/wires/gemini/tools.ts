import type { JsonObject, Tool } from '#kernel'
import type { Lose } from './contents.ts'
import { jsonSchemaOf } from './json-schema.ts'
import type { Fields, GenerateBody } from './schema.ts'
import { snakeCase } from './spelling.ts'

type Tools = NonNullable<GenerateBody['tools']>
type Declaration = NonNullable<Tools[number]['functionDeclarations']>[number]

/** Functions as functions; a tool of Google's own has the type that says which. */
export function toolsOf(tools: Tools, lose: Lose): Tool[] {
  return tools.flatMap(({ functionDeclarations, ...own }) => [
    ...(functionDeclarations ?? []).map((declaration) => functionOf(declaration, lose)),
    ...Object.entries(own).flatMap(([name, value]) => {
      const type = snakeCase(name)
      return value === null || value === undefined ? [] : [{ type, [type]: value }]
    }),
  ])
}

function functionOf(declaration: Declaration, lose: Lose): Tool {
  const { name, description, parameters, parametersJsonSchema, ...own } = declaration
  for (const field in own) if (own[field] != null) lose(`tools.functionDeclarations.${field}`)
  const schema = parametersJsonSchema ?? (parameters && jsonSchemaOf(parameters as JsonObject))
  return {
    type: 'function',
    function: {
      name,
      ...(description && { description }),
      ...(schema && { parameters: schema as JsonObject }),
    },
  }
}

/** Which functions may be called, as OpenAI writes it. */
export function choiceOf(config: GenerateBody['toolConfig'], lose: Lose): Fields {
  if (!config) return {}
  const { functionCallingConfig: calling, ...own } = config
  for (const field in own) if (own[field] != null) lose(`toolConfig.${field}`)
  if (!calling) return {}
  const { mode, allowedFunctionNames, ...more } = calling
  for (const field in more) if (more[field] != null) lose(`toolConfig.functionCallingConfig.${field}`)
  const names = allowedFunctionNames ?? []
  switch (mode?.toUpperCase()) {
    case 'ANY':
      return { tool_choice: names.length === 1 ? named(names[0]!) : allowed('required', names) }
    case 'NONE':
      return { tool_choice: 'none' }
    case 'VALIDATED':
      if (names.length === 0) lose('toolConfig.functionCallingConfig.mode')
      return { tool_choice: allowed('auto', names) }
    case 'AUTO':
      return { tool_choice: 'auto' }
    default:
      return {}
  }
}

const named = (name: string) => ({ type: 'function', function: { name } })

const allowed = (mode: 'auto' | 'required', names: readonly string[]): unknown =>
  names.length === 0 ? mode : { type: 'allowed_tools', allowed_tools: { mode, tools: names.map(named) } }
