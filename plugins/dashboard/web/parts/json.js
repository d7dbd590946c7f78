import { html } from '../html.js'

/** Characters of a value that are shown at once. */
const most = 200_000

/**
 * A value as JSON, opened by a click: what nobody opens is not made.
 * @param {{ title: string, value: unknown }} props
 */
export function Json({ title, value }) {
  /** @param {any} event */
  const fill = ({ target }) => {
    const shown = target.querySelector('pre')
    if (!target.open || shown.textContent !== '') return
    const text = JSON.stringify(value, null, 2)
    shown.textContent =
      text.length > most ? `${text.slice(0, most)}\n… ${text.length - most} characters more` : text
  }
  return html`<details onToggle=${fill}><summary>${title}</summary><pre tabindex="0"></pre></details>`
}
