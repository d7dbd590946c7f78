import { policyFieldNames } from '#kit'

/** Other spellings that are accepted, and the field that each of them is. */
const spellings: Readonly<Record<string, string>> = {
  'request.content': 'request',
  'request.system': 'system',
  'request.user': 'user',
  'request.model': 'model',
  'request.ip': 'ip',
  'response.content': 'response',
  user_id: 'user.id',
  tool_name: 'tool.name',
  'tool.args': 'tool_args',
  'tool.arguments': 'tool_args',
  cost_usd: 'cost',
}

/** The name of a field by any of its spellings; undefined for none. */
export function fieldOf(said: string): string | undefined {
  const field = spellings[said] ?? said
  return /^tags\..+$/s.test(field) || (policyFieldNames as readonly string[]).includes(field)
    ? field
    : undefined
}

/**
 * How a field is looked at: `request` and `reply` are texts of that side, `name` the names of tools that an answer calls,
 * `value` a text of the call itself, and `number` one that is compared.
 */
export type FieldKind = 'request' | 'reply' | 'name' | 'value' | 'number'

const kinds: Readonly<Record<string, FieldKind>> = {
  request: 'request',
  system: 'request',
  user: 'request',
  response: 'reply',
  tool_args: 'reply',
  'tool.name': 'name',
  tokens: 'number',
  cost: 'number',
}

export const kindOf = (field: string): FieldKind => kinds[field] ?? 'value'
