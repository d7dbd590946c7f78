import { jsonrepair } from 'jsonrepair'
import { cutJson, parseForeign } from '#kit'

/** Every bracket that a repair closes copies the whole text: depth times characters of a text that is repaired. */
const mostRepaired = 100_000_000

/**
 * The JSON value in a model's text: as it stands, inside a code fence, between the outermost brackets of some prose, or
 * repaired, with brackets closed that were left open. Undefined when there is none, or a value would have to be made up.
 */
export function extract(text: string): { readonly value: unknown } | undefined {
  const inside = bracketed(text)
  for (const candidate of [text, ...inside]) {
    const parsed = parse(candidate, parseForeign)
    if (parsed) return parsed
  }
  for (const candidate of inside) {
    const { hasGap, depth } = cutJson(candidate)
    if (hasGap || depth * candidate.length > mostRepaired) continue
    const repaired = parse(candidate, (broken) => parseForeign(jsonrepair(broken)))
    if (repaired && typeof repaired.value === 'object') return repaired
  }
  return undefined
}

/** Parts of the text that may be an object or a list: fenced, from first to last bracket, or cut off at the end. */
function bracketed(text: string): string[] {
  const fence = /```(?:json)?[^\S\n]*\n([\s\S]*?)(?:```|$)/.exec(text)?.[1]
  const start = text.search(/[{[]/)
  if (start === -1) return []
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'))
  const between = text.slice(start, end + 1)
  const parts = [...(end > start && !cutJson(between).isOpen ? [between] : []), text.slice(start)]
  return fence && /^\s*[{[]/.test(fence) ? [fence, ...parts] : parts
}

function parse(text: string, read: (text: string) => unknown): { value: unknown } | undefined {
  try {
    return { value: read(text) }
  } catch {
    return undefined
  }
}
