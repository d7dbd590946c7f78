import type { Completion } from '../canonical/forms.ts'
import { parseForeign } from '../json/foreign-json.ts'
import { orderedJson } from '../json/ordered-json.ts'
import { readable } from '../readable.ts'
import { answerTexts } from './answer-texts.ts'

/** The fields and types of an answer that is JSON or calls functions, equal for answers of one form; undefined for prose. */
export function answerStructure(body: Completion): string | undefined {
  const calls = body.choices?.[0]?.message?.tool_calls ?? []
  if (calls.length > 0)
    return orderedJson(calls.map(({ function: fn }) => [fn?.name, typeOf(valueIn(fn?.arguments ?? ''))]))
  return textStructure(answerTexts(body).join('\n'))
}

/** The same of the text of an answer, which may stand in a fence. */
export function textStructure(text: string): string | undefined {
  const value = valueIn(text.trim().replace(fence, '$1'))
  return typeof value === 'object' && value !== null ? orderedJson(typeOf(value)) : undefined
}

const fence = /^```\w*\n([\s\S]*)\n```$/

/** The type of a value: of an object its fields with their types, of a list the types that occur in it. */
function typeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((item) => orderedJson(typeOf(item))))].sort()
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, typeOf(field)]))
}

const valueIn = (json: string): unknown => readable(() => parseForeign(json))
