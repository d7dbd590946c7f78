import type { Passage } from './passages.ts'

/** What is no language: code, formulas, addresses, placeholders of templates and formats, tags, and the marks of guards. */
const kept = new RegExp(
  [
    '`{1,9}[^`]{1,2000}`{1,9}',
    String.raw`\$\$[^$]{1,2000}\$\$`,
    String.raw`(?:https?|ftp)://[^\s<>"'\`)\]]*[^\s<>"'\`)\].,;:!?]`,
    String.raw`(?<![\w.])www\.[^\s<>"'\`)\]]*[^\s<>"'\`)\].,;:!?]`,
    String.raw`(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}`,
    String.raw`\[[A-Z]{1,40}[_:][\w:.-]{1,64}\]`,
    String.raw`\{\{[^{}]{0,200}\}\}|\$?\{[\w.:,-]{0,64}\}`,
    String.raw`(?<![\w%])%(?:\(\w{1,64}\)|\d{1,2}\$)?[-+0#]{0,4}\d{0,3}(?:\.\d{1,3})?[sdifuxXeEgGc](?!\w)`,
    '</?[A-Za-z][^<>]{0,200}>',
    '⟦[^⟦⟧]{0,20}⟧|[⟦⟧]',
  ].join('|'),
  'g',
)
const mark = /⟦\d{1,6}⟧|[⟦⟧]/g

/** The text without what is no language, by which its language is told. */
export const wordsOf = (text: string): string => text.replace(kept, ' ')

/** A text to translate: with numbered marks in place of what must stay as it is. */
export interface Marked {
  readonly text: string
  readonly pieces: readonly string[]
}

/** Passages as one text with marks. */
export function marked(passages: readonly Passage[]): Marked {
  const pieces: string[] = []
  const take = (piece: string): string => `⟦${pieces.push(piece)}⟧`
  const text = passages
    .map(({ kind, text }) => {
      if (kind === 'prose') return text.replace(kept, take)
      const line = text.trimEnd()
      return line === '' ? text : take(line) + text.slice(line.length)
    })
    .join('')
  return { text, pieces }
}

/** The translation with everything put back; undefined unless each mark stands in it once. */
export function putBack(translation: string, pieces: readonly string[]): string | undefined {
  const found = translation.match(mark) ?? []
  const each = new Set<string>(found)
  const isWhole = found.length === pieces.length && pieces.every((_, at) => each.has(`⟦${at + 1}⟧`))
  return isWhole ? translation.replace(mark, (one) => pieces[Number(one.slice(1, -1)) - 1]!) : undefined
}
