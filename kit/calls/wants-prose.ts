import type { Call } from '../../kernel/call/call.ts'

/** Whether a call wants an answer in words for people: a chat whose answer is held to no schema and no JSON. */
export function wantsProse({ operation, request, context }: Call): boolean {
  const format = request.response_format?.type ?? 'text'
  return operation === 'chat' && format === 'text' && context.headers['x-schema'] === undefined
}
