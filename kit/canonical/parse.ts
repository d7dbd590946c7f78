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
  let value: string | undefined
  for (let at = 0; at < text.length; ) {
    const end = lineEnd(text, at)
    if (text.startsWith('data:', at)) {
      const data = text.slice(text.charCodeAt(at + 5) === 32 ? at + 6 : at + 5, end)
      value = value === undefined ? data : `${value}\n${data}`
    }
    at = end + 1
  }
  return value ?? ''
}

/** Where the line ends that begins here: at its line feed or carriage return, or with the text. */
function lineEnd(text: string, at: number): number {
  lineBreak.lastIndex = at
  return lineBreak.test(text) ? lineBreak.lastIndex - 1 : text.length
}

const lineBreak = /[\r\n]/g
