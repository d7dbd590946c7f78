import { badRequest, type Call, type JsonObject, type Message, type ModelRequest, type Target } from '#kernel'
import { Changes, reportUnsaid } from '#provider'
import { conversationOf } from './conversation.ts'
import { type Options, optionsOf } from './options.ts'
import { checkFields, inferenceConfig, ownFields, tierOf, topK } from './parameters.ts'
import type { Scene } from './parts.ts'
import { type Plan, planOf } from './plan.ts'
import { thinkingOf } from './thinking.ts'
import { toolFields } from './tools.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * The body of a Converse request, streamed or not; `given` are its messages, with all files in them. A field that it cannot
 * carry is refused, or named in the call's trace.
 */
export function bodyOf(
  call: Call,
  target: Target,
  given: readonly Message[] = call.request.messages ?? [],
): Fields {
  const { request } = call
  const plan = planOf(call, target)
  const changes = new Changes(call)
  checkFields(request, changes)
  reportUnsaid(call, changes)
  const scene: Scene = { facts: plan.facts, changes, documents: new Set() }
  const { system, messages } = conversationOf(given, scene)
  const { toolConfig, modelChoice, forced } = toolFields(request, plan, scene)
  const thinking = thinkingOf(request, { ...plan, turns: messages, forced, changes })
  const more = {
    ...betasOf(call, plan, changes),
    ...(modelChoice && { tool_choice: modelChoice }),
    ...modelFields(request, plan, thinking, changes),
  } as JsonObject
  const config = inferenceConfig(request, plan.facts, thinks(more), changes)
  const watched = plan.facts.maker === 'anthropic' && config.stopSequences !== undefined
  return {
    messages,
    ...(system.length > 0 && { system }),
    ...(Object.keys(config).length > 0 && { inferenceConfig: config }),
    ...(toolConfig && { toolConfig }),
    ...(Object.keys(more).length > 0 && { additionalModelRequestFields: more }),
    ...(watched && { additionalModelResponseFieldPaths: ['/stop_sequence'] }),
    ...outputFields(plan, changes),
    ...guardrailOf(optionsOf(target.provider), call.stream),
    ...tierOf(request, changes),
    ...ownFields(request),
  }
}

/** Betas of Claude's that Bedrock has; with any other it refuses the whole request. */
const betas = new Set([
  'context-1m-2025-08-07',
  'dev-full-thinking-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'token-efficient-tools-2025-02-19',
])

/** The betas that the client names, as far as they are there: they have a field and no header. */
function betasOf({ context }: Call, { facts }: Plan, changes: Changes): Fields {
  const asked = context.headers['anthropic-beta']
  if (typeof asked !== 'string' || facts.maker !== 'anthropic') return {}
  const all = [...new Set(asked.split(/\s*,\s*/).filter((name) => name !== ''))]
  const known = all.filter((name) => betas.has(name))
  if (known.length < all.length) changes.add('-anthropic-beta')
  return known.length > 0 ? { anthropic_beta: known } : {}
}

/** Fields for the model that the service passes through: fields that the caller gives by name come last, over those made here. */
function modelFields(request: ModelRequest, { facts }: Plan, thinking: Fields, changes: Changes): JsonObject {
  const { output_config: output, additional_model_request_fields: given } = request
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given))) {
    const param = 'additional_model_request_fields'
    throw badRequest(`${param}: expected an object.`, { param })
  }
  const asked = output !== undefined && output !== null
  if (asked && facts.maker !== 'anthropic') changes.add('-output_config')
  const config = { ...(thinking.output_config as Fields), ...(asked && (output as Fields)) }
  return {
    ...topK(request, facts, changes),
    ...thinking,
    ...(facts.maker === 'anthropic' && Object.keys(config).length > 0 && { output_config: config }),
    ...(given as Fields | undefined),
  } as JsonObject
}

const thinks = ({ thinking }: JsonObject): boolean =>
  thinking !== undefined && (thinking as { type?: string } | null)?.type !== 'disabled'

/** A schema for the answer, where the model takes one. */
function outputFields({ form }: Plan, changes: Changes): Fields {
  const { way, schema, changes: made = [] } = form ?? {}
  if (way !== 'native') return {}
  for (const change of made) changes.add(`response_format.schema:${change}`)
  const jsonSchema = { name: schema!.name, schema: JSON.stringify(schema!.body) }
  return { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } }
}

function guardrailOf({ guardrail }: Options, streams: boolean): Fields {
  if (!guardrail) return {}
  const { id, version, trace } = guardrail
  return {
    guardrailConfig: {
      guardrailIdentifier: id,
      guardrailVersion: version,
      ...(trace !== undefined && { trace }),
      // Without it, the service sends an answer before it judges it.
      ...(streams && { streamProcessingMode: 'sync' }),
    },
  }
}
