/** A quotation within one line, its marks included. */
interface Quotation {
  readonly start: number
  readonly end: number
  readonly said: string
}

/** What ends a quotation, or the line in which it would have to end, by the mark that it begins with. */
const ends: ReadonlyMap<string, RegExp> = new Map([
  ['"', /["\n]/g],
  ['“', /[”\n]/g],
  ['„', /[“”\n]/g],
  ['«', /[»\n]/g],
])

/** Shorter ones are names, and longer ones hardly quotations. */
const lengths = { least: 8, most: 2000 }

/** The quotations of a text. The end of each mark is looked for once, so that marks that nothing closes take no longer than others. */
export function* quotationsIn(text: string): Generator<Quotation> {
  const known = new Map<string, number>()
  let from = 0
  for (const { 0: mark, index: start } of text.matchAll(/["“„«]/g)) {
    if (start < from) continue
    let end = known.get(mark) ?? -1
    if (end <= start) {
      const sought = ends.get(mark)!
      sought.lastIndex = start + 1
      end = sought.exec(text)?.index ?? text.length
      known.set(mark, end)
    }
    const said = text.slice(start + 1, end)
    const isLine = end === text.length || text[end] === '\n'
    if (isLine || said.length < lengths.least || said.length > lengths.most) continue
    from = end + 1
    yield { start, end: from, said }
  }
}
