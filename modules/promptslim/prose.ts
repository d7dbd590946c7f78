/** Inside one line: code, and what is quoted, each by the mark that begins it. */
const quoted: ReadonlyMap<string, RegExp> = new Map([
  ['`', /`[^`]+`/y],
  ['"', /"[^"]*"/y],
  ['“', /“[^”]*”/y],
  ['„', /„[^“”]*[“”]/y],
  ['«', /«[^»]*»/y],
])
const marks = /[`"“„«]/g

/** Passes the parts of a line through `change` that are neither code nor quoted. */
export function outsideQuotes(line: string, change: (part: string) => string): string {
  const parts: string[] = []
  /** Marks that nothing closes from here on: they are not looked at again and again, which would take the square of the line. */
  const open = new Set<string>()
  let from = 0
  for (const { 0: mark, index } of line.matchAll(marks)) {
    if (index < from || open.has(mark)) continue
    const form = quoted.get(mark)!
    form.lastIndex = index
    const [found] = form.exec(line) ?? []
    if (found === undefined) {
      // Two in a row quote no code, and a later one may.
      if (line[index + 1] !== '`') open.add(mark)
      continue
    }
    parts.push(change(line.slice(from, index)), found)
    from = index + found.length
  }
  return [...parts, change(line.slice(from))].join('')
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
