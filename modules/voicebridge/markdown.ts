import { Lexer, lexer, type Token, type Tokens } from 'marked'
import type { Piece } from './pieces.ts'

/** The words of a piece of Markdown, one text for each sentence of it: code marks, links, images and tags are resolved. */
export function plainTexts({ kind, markdown, isFirst }: Piece): string[] {
  const tokens = isFirst ? lexer(markdown) : Lexer.lexInline(markdown)
  const [first] = tokens
  if (kind === 'table' && first?.type === 'table') return rowsOf(first as Tokens.Table)
  return [textOf(tokens)]
}

/** Each row as a sentence, its cells with their names. */
const rowsOf = ({ header, rows }: Tokens.Table): string[] =>
  rows.map((cells) =>
    cells
      .map(({ tokens }, at) => [textOf(header[at]?.tokens ?? []), textOf(tokens)].filter(Boolean).join(': '))
      .join(', '),
  )

const textOf = (tokens: readonly Token[]): string => tokens.map(spoken).join('')

function spoken(token: Token): string {
  switch (token.type) {
    case 'link':
      return isAddress(token as Tokens.Link)
        ? addressOf((token as Tokens.Link).href)
        : textOf(token.tokens ?? [])
    case 'list':
      return itemsOf(token as Tokens.List)
    case 'codespan':
    case 'escape':
      return token.text
    case 'image':
      return token.text
    case 'br':
    case 'space':
      return ' '
    case 'html':
    case 'hr':
    case 'def':
    case 'checkbox':
      return ''
    default:
      return 'tokens' in token && token.tokens
        ? textOf(token.tokens)
        : decoded('text' in token ? token.text : '')
  }
}

/** Items with their numbers, where they have some. */
function itemsOf({ ordered, start, items }: Tokens.List): string {
  return items.map(({ tokens }, at) => (ordered ? `${Number(start) + at}: ` : '') + textOf(tokens)).join(' ')
}

const isAddress = ({ href, text }: Tokens.Link): boolean =>
  href.replace(/^(?:https?:\/\/|mailto:)/, '') === text.replace(/^https?:\/\//, '')

/** What one says of an address: the host of a page. */
function addressOf(href: string): string {
  if (href.startsWith('mailto:')) return href.slice('mailto:'.length)
  return URL.canParse(href) ? new URL(href).hostname.replace(/^www\./, '') : ''
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
}

const decoded = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|apos|nbsp);/g, (_, name) => entities[name]!)
