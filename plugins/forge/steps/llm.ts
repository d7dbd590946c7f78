import type { Message, ModelRequest } from '#kernel'
import type { Part } from '../workflows/step.ts'
import { filled, parsed, type Scope, type Value } from '../workflows/value.ts'
import { type Asking, ask, modelNamed } from './ask.ts'

type Llm = Extract<Part, { type: 'llm' }>

/** The request that a step makes of its prompts. */
export function requestOf(step: Llm, scope: Scope): ModelRequest {
  const { system, prompt, params, output_schema: schema } = step
  const said = (role: 'system' | 'user', content: string): Message => ({
    role,
    content: filled(content, scope),
  })
  return {
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'output', schema } } }),
    ...params,
    model: modelNamed(step),
    messages: [...(system === undefined ? [] : [said('system', system)]), said('user', prompt)],
  } as ModelRequest
}

/** Asks a model. The output is its text, or the value of its JSON where the step has a schema. */
export async function runLlm(asking: Asking, step: Llm, request: ModelRequest): Promise<Value> {
  const text = await ask(asking, request)
  return step.output_schema ? parsed(text) : text
}
