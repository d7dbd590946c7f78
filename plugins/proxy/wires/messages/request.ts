import type { Message, ModelRequest, Tool } from '#kernel'
import { refusalOf } from '../refusal.ts'
import { messagesOf } from './content.ts'
import { type MessagesBody, messagesBody } from './schema.ts'

type Fields = Readonly<Record<string, unknown>>

/** The canonical request. Fields without a counterpart are carried as they came, for providers that know them. */
export function requestOf(body: unknown): ModelRequest {
  const result = messagesBody.safeParse(body)
  if (!result.success) throw refusalOf(result.error.issues[0]!)
  const { system, messages, stop_sequences, metadata, tools, tool_choice, stream, ...rest } = result.data
  const { output_config: _, output_format: __, ...own } = rest
  return {
    ...own,
    messages: [...systemOf(system), ...messages.flatMap(messagesOf)],
    ...(stream && { stream }),
    ...(stop_sequences && { stop: stop_sequences }),
    ...(tools && { tools: tools.map(toolOf) }),
    ...choiceOf(tool_choice),
    ...userOf(metadata),
    ...outputOf(result.data),
  } as ModelRequest
}

const systemOf = (system: MessagesBody['system']): Message[] =>
  system === undefined || system === null ? [] : [{ role: 'system', content: system }]

/** A tool of the client's own is a function; the provider's own tools stay what they are. */
function toolOf(tool: NonNullable<MessagesBody['tools']>[number]): Tool {
  const { type, name, description, input_schema, strict, ...own } = tool as Fields
  if (input_schema === undefined || name === undefined) return tool as unknown as Tool
  const fn = {
    name,
    ...(description !== undefined && { description }),
    parameters: input_schema,
    ...(strict !== undefined && { strict }),
  }
  return { type: 'function', function: fn, ...own } as Tool
}

function choiceOf(choice: MessagesBody['tool_choice']): Fields {
  if (!choice) return {}
  const { type, name, disable_parallel_tool_use: single } = choice
  const named = { type: 'function', function: { name } }
  return {
    tool_choice: type === 'tool' ? named : type === 'any' ? 'required' : type,
    ...(single && { parallel_tool_calls: false }),
  }
}

function userOf(metadata: MessagesBody['metadata']): Fields {
  if (!metadata) return {}
  const { user_id, ...own } = metadata
  return { ...(user_id && { user: user_id }), ...(Object.keys(own).length > 0 && { metadata: own }) }
}

/** What is wanted of the answer. A form in the field of the beta stays there too, for providers that know that field. */
function outputOf({ output_config: config, output_format: older }: MessagesBody): Fields {
  const { format, ...own } = config ?? {}
  const known = hasSchema(format)
  const rest = known || !format ? own : config!
  const schema = known ? format.schema : hasSchema(older) ? older.schema : undefined
  return {
    ...(Object.keys(rest).length > 0 && { output_config: rest }),
    ...(older && { output_format: older }),
    ...(schema && {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
    }),
  }
}

type Format = NonNullable<MessagesBody['output_format']>

const hasSchema = (format: Format | null | undefined): format is Format & Required<Pick<Format, 'schema'>> =>
  format?.type === 'json_schema' && format.schema !== undefined
