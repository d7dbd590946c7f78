import type { Call, ModelRequest } from '#kernel'

/**
 * The fault of a provider in a whole answer, as in "it answered without a choice"; undefined for an answer that has the fields
 * that all readers rely on. A message may be empty, but it may not be missing.
 */
export function flawOf(body: unknown, { operation, request }: Call): string | undefined {
  if (!isObject(body)) return 'answered with JSON that is not an object'
  if (operation === 'embedding') return flawOfVectors(body.data, request.input)
  const { choices } = body
  if (!Array.isArray(choices) || choices.length === 0) return 'answered without a choice'
  const says = operation === 'chat' ? hasMessage : hasText
  return choices.every(says) ? undefined : `answered with a choice without a ${nounOf[operation]}`
}

const nounOf = { chat: 'message', completion: 'text' } as const

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const hasText = (choice: unknown): boolean => isObject(choice) && typeof choice.text === 'string'

function hasMessage(choice: unknown): boolean {
  const message = isObject(choice) ? choice.message : undefined
  if (!isObject(message)) return false
  const { content, tool_calls: calls } = message
  const isContent = content === undefined || content === null || typeof content === 'string'
  return (isContent || areObjects(content)) && (calls === undefined || calls === null || areObjects(calls))
}

const areObjects = (value: unknown): boolean => Array.isArray(value) && value.every(isObject)

function flawOfVectors(data: unknown, input: ModelRequest['input']): string | undefined {
  if (!Array.isArray(data) || !data.every(hasVector)) return 'answered with embeddings that are none'
  const wanted = Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1
  return data.length === wanted ? undefined : `gave ${data.length} embeddings for ${wanted} texts`
}

/** A list of numbers, or the same in base64. */
const hasVector = (one: unknown): boolean =>
  isObject(one) && (Array.isArray(one.embedding) || typeof one.embedding === 'string')
