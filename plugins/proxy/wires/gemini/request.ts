import { type Asking, badRequest, type ModelRequest } from '#kernel'
import { protocolOptions } from '#kit'
import { messagesOf } from './contents.ts'
import { parametersOf } from './parameters.ts'
import type { GenerateBody } from './schema.ts'
import { opened } from './state.ts'
import { choiceOf, toolsOf } from './tools.ts'

/** Fields of a body that are translated, or that only Gemini understands. */
const known = new Set([
  ...['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'model'],
  ...['safetySettings', 'cachedContent'],
])

/**
 * The canonical request. Fields without a place in it are kept beside it, as they came, for a provider that speaks this wire;
 * for others, only their names are reported. `template` is for the gateway alone, on every wire.
 */
export function requestOf(
  { template, ...body }: GenerateBody,
  model: string,
  asking: Pick<Asking, 'trace'>,
): ModelRequest {
  const lost = new Set<string>()
  const lose = (field: string): void => void lost.add(field)
  for (const field in body) if (!known.has(field) && body[field] != null) lose(field)
  if (body.safetySettings) lose('safetySettings')
  const request = {
    model: modelOf(model),
    messages: messagesOf(body.contents, body.systemInstruction, lose),
    ...parametersOf(body.generationConfig ?? {}, lose),
    ...(body.tools && { tools: toolsOf(body.tools, lose) }),
    ...choiceOf(body.toolConfig, lose),
    ...(template !== undefined && { template }),
  } as ModelRequest
  const needed = body.cachedContent ? ['cachedContent'] : []
  const said = { body, request, lost: [...lost], needed, isForeign: hasState(body) }
  Object.assign(protocolOptions(asking, 'gemini'), { said })
  return request
}

/** Whether a conversation has what another provider than Gemini wants back. */
const hasState = ({ contents }: GenerateBody): boolean =>
  contents.some(({ parts }) =>
    (parts ?? []).some(({ thoughtSignature: signature }) => signature && opened(signature)),
  )

/** The name of a model without the folder that all are in. */
export function modelOf(name: string): string {
  const model = name.replace(/^models\//, '')
  if (model === '' || model.length > 256)
    throw badRequest('The path does not name a model.', { param: 'model' })
  return model
}

/** Whether the client asked to see thoughts. */
export function showsThoughts(asking: Pick<Asking, 'trace'>): boolean {
  const { said } = protocolOptions(asking, 'gemini') as { said?: { body?: GenerateBody } }
  return said?.body?.generationConfig?.thinkingConfig?.includeThoughts === true
}
