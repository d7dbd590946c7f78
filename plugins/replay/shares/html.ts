/** HTML that is made of the page's own words and of escaped texts. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Html | readonly Html[]

/** A piece of a page. Every value that is no `Html` is escaped, for an element's text and for a quoted attribute alike. */
export const html = (own: TemplateStringsArray, ...values: readonly Value[]): Html =>
  new Html(own.map((part, i) => (i === 0 ? part : rendered(values[i - 1]!) + part)).join(''))

function rendered(value: Value): string {
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(({ text }) => text).join('')
  return String(value).replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)
}
