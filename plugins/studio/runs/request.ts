import { badRequest, type Message, type ModelRequest } from '#kernel'
import { Filling, instructionsAtStart, type MustacheNode, parseMustache } from '#kit'
import type { Prompt } from '../prompt.ts'
import type { Arm, Case } from './plan.ts'

/** The prompts of templates that arms name, by arm. */
export type Prompts = ReadonlyMap<Arm, Prompt>

/**
 * What an arm is asked of a case: instructions of the arm or else of the case, the messages of the template, and what the user
 * says. Throws a bad request that names the field; `at` is where the case stands, empty for the body itself.
 */
export function requestOf(arm: Arm, one: Case, prompts: Prompts, at: string): ModelRequest {
  const prompt = prompts.get(arm)
  const system = arm.system ?? one.system
  const messages = [
    ...(system === undefined ? [] : [{ role: 'system', content: system }]),
    ...(prompt ? prompt.fill(valuesFor(prompt, one), variablesAt(at)) : []),
    ...saidIn(arm, one, at),
  ] as Message[]
  if (messages.length === 0)
    throw badRequest(`body ${at || 'prompt'}: ${arm.id} has nothing to ask here; give it a \`prompt\`.`, {
      param: at || 'prompt',
    })
  const { params, tools, response_format } = prompt?.body ?? {}
  return {
    ...params,
    ...(tools && { tools }),
    ...(response_format && { response_format }),
    ...arm.params,
    model: arm.provider === undefined ? arm.model : `${arm.provider}/${arm.model}`,
    messages,
  } as unknown as ModelRequest
}

const variablesAt = (at: string): string => (at === '' ? 'variables' : `${at}.variables`)

/** The variables of a case for a template, which may also have one for the prompt itself: `input`. */
function valuesFor({ body }: Prompt, { variables = {}, prompt }: Case): Readonly<Record<string, unknown>> {
  const asksInput = prompt !== undefined && body.variables.some(({ name }) => name === 'input')
  return asksInput ? { input: prompt, ...variables } : variables
}

const known = new WeakMap<Arm, readonly MustacheNode[]>()

/** The prompt of an arm, which is read once for all cases. */
function nodesOf(arm: Arm, prompt: string): readonly MustacheNode[] {
  const nodes = known.get(arm) ?? parseMustache(prompt, 'prompt')
  known.set(arm, nodes)
  return nodes
}

function saidIn(arm: Arm, { prompt, messages, variables }: Case, at: string): readonly Message[] {
  if (arm.prompt !== undefined) {
    const filling = new Filling({ input: prompt, ...variables }, () => false, variablesAt(at))
    const content = filling.text(nodesOf(arm, arm.prompt))
    if (filling.missing.size === 0) return [{ role: 'user', content }]
    const missing = [...filling.missing].slice(0, 10).join(', ')
    throw badRequest(`body ${variablesAt(at)}: the prompt of ${arm.id} needs ${missing}.`, {
      param: variablesAt(at),
    })
  }
  if (messages === undefined) return prompt === undefined ? [] : [{ role: 'user', content: prompt }]
  // Instructions of the arm take the place of those that the messages begin with.
  return arm.system === undefined ? messages : messages.slice(instructionsAtStart(messages))
}
