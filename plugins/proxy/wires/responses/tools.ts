import { z } from 'zod'
import { badRequest, type Tool } from '#kernel'
import { checked } from './checked.ts'
import type { Fields, Report, ResponsesBody } from './schema.ts'

const about = { type: z.string(), name: z.string().min(1), description: z.string().nullish() }
const functionTool = z.looseObject({
  ...about,
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
})
const customTool = z.looseObject({ ...about, format: z.looseObject({ type: z.string() }).nullish() })
const named = z.looseObject({ name: z.string().min(1) })
const allowed = z.looseObject({
  mode: z.enum(['auto', 'required']),
  tools: z.array(z.looseObject({ type: z.string() })),
})

/** Tools and which of them to use, in the canonical form; nothing when there are none. */
export function toolFieldsOf(body: ResponsesBody, report: Report): Fields {
  const { tools, tool_choice: choice, parallel_tool_calls: parallel } = body
  if (!tools || tools.length === 0) {
    if (choice != null && choice !== 'auto' && choice !== 'none') report('-tool_choice')
    return {}
  }
  return {
    tools: tools.map((tool, i) => toolOf(tool, `tools.${i}`, report)),
    ...(choice != null && { tool_choice: choiceOf(choice, 'tool_choice') }),
    ...(parallel != null && { parallel_tool_calls: parallel }),
  }
}

function toolOf(tool: Fields, at: string, report: Report): Tool {
  const lost = (own: Fields): void => {
    for (const field in own) if (own[field] != null) report(`-tools.${field}`)
  }
  if (tool.type === 'function') {
    const { type, name, description, parameters, strict, ...own } = checked(functionTool, tool, at)
    lost(own)
    const fn = {
      name,
      ...(description != null && { description }),
      ...(parameters != null && { parameters }),
      ...(strict != null && { strict }),
    }
    return { type, function: fn as NonNullable<Tool['function']> }
  }
  if (tool.type === 'custom') {
    const { type, name, description, format, ...own } = checked(customTool, tool, at)
    lost(own)
    return {
      type,
      custom: { name, ...(description != null && { description }), ...(format && grammarOf(format)) },
    }
  }
  throw badRequest(`${at}.type: tools of the type ${String(tool.type)} cannot be carried; use functions.`, {
    param: `${at}.type`,
  })
}

/** What a custom tool takes: this wire writes a grammar flat, the canonical form does not. */
function grammarOf(format: Fields): Fields {
  const { type, ...grammar } = format
  return { format: type === 'grammar' ? { type, grammar } : format }
}

function choiceOf(choice: NonNullable<ResponsesBody['tool_choice']>, at: string): unknown {
  if (typeof choice === 'string') return choice
  const { type } = choice
  if (type === 'function' || type === 'custom')
    return { type, [type]: { name: checked(named, choice, at).name } }
  if (type === 'allowed_tools') {
    const { mode, tools } = checked(allowed, choice, at)
    const few = tools.map((tool, i) => choiceOf(tool, `${at}.tools.${i}`))
    return { type, allowed_tools: { mode, tools: few } }
  }
  throw badRequest(`${at}.type: tools of the type ${type} cannot be chosen.`, { param: `${at}.type` })
}
