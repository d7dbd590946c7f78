import { providerError } from '../errors.ts'
import type { CompletionChunk } from './forms.ts'

/** The chunk in an event of a provider. Throws a coded error when it is not the JSON of a chunk. */
export function parseChunk(event: string): CompletionChunk {
  let data: CompletionChunk
  try {
    data = JSON.parse(dataOf(event)) as CompletionChunk
  } catch (cause) {
    throw providerError('The provider sent an event that is not JSON.', { cause })
  }
  if (!Array.isArray(data?.choices)) return { ...data, choices: [] }
  if (!isSound(data)) throw providerError('The provider sent an invalid event.')
  return data
}

/** Whether a chunk has the shape that all readers rely on, whatever else is in it. */
export function isSound({ choices }: CompletionChunk): boolean {
  for (const choice of choices) {
    if (typeof choice !== 'object' || choice === null) return false
    const calls: unknown = choice.delta?.tool_calls
    if (calls === undefined || calls === null) continue
    if (!Array.isArray(calls) || calls.some((call) => typeof call !== 'object' || call === null)) return false
  }
  return true
}

/** The value of an event's `data:` lines, joined as the SSE standard says. */
export function dataOf(text: string): string {
  if (text.startsWith('data: ') && text.indexOf('\n') >= text.length - 2) return text.slice(6).trimEnd()
  return text
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(line.charCodeAt(5) === 32 ? 6 : 5))
    .join('\n')
}
