/** Inside one line: code, and what is quoted. */
const quoted = /`[^`]+`|"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»/

/** Passes the parts of a line through `change` that are neither code nor quoted. */
export function outsideQuotes(line: string, change: (part: string) => string): string {
  const parts: string[] = []
  let rest = line
  for (let found = quoted.exec(rest); found; found = quoted.exec(rest)) {
    parts.push(change(rest.slice(0, found.index)), found[0])
    rest = rest.slice(found.index + found[0].length)
  }
  return [...parts, change(rest)].join('')
}

/** Whether a line is code by its indentation. */
export const isIndented = (line: string): boolean => /^(?: {4}|\t)/.test(line)

/** A line without the white space that says nothing. What stands apart goes on to stand apart, by two spaces. */
export function tidied(line: string): string {
  const indent = /^ */.exec(line)![0]
  return indent + outsideQuotes(line.trim(), (part) => part.replace(/[ \t\u00a0]{3,}/g, '  '))
}

/** Which of several parts of a text are inside a quotation, or have the beginning or the end of one that spans some of them. */
export function quotedAmong(parts: readonly string[]): ReadonlySet<number> {
  const odd = parts.flatMap((part, at) => ((part.match(/["“”„«»]/g)?.length ?? 0) % 2 === 1 ? [at] : []))
  const within = new Set<number>()
  for (let pair = 0; pair < odd.length; pair += 2) {
    const first = odd[pair]!
    for (let at = first; at <= (odd[pair + 1] ?? first); at++) within.add(at)
  }
  return within
}
