/** Where JSON ends that begins in a line: the line behind it, undefined where none does. `looked` is how many characters it took. */
export function jsonEnd(
  lines: readonly string[],
  from: number,
  mostLooked: number,
): { readonly end?: number; readonly looked: number } {
  let looked = 0
  let depth = 0
  let isInText = false
  for (let at = from; at < lines.length && looked <= mostLooked; at++) {
    const line = lines[at]!
    looked += line.length + 1
    for (const [token] of line.matchAll(/\\.|["{}[\]]/g)) {
      if (token === '"') isInText = !isInText
      else if (!isInText && (token === '{' || token === '[')) depth += 1
      else if (!isInText && (token === '}' || token === ']')) depth -= 1
    }
    if (depth <= 0 || isInText)
      return isJson(lines.slice(from, at + 1)) ? { end: at + 1, looked } : { looked }
  }
  return { looked }
}

function isJson(lines: readonly string[]): boolean {
  try {
    JSON.parse(lines.join('\n'))
    return true
  } catch {
    return false
  }
}

/** JSON without the white space between its parts. Its texts and numbers stay as they are written. */
export const minified = (json: string): string =>
  json.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (part) => (part[0] === '"' ? part : ''))
