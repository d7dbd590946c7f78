import { useState } from 'preact/hooks'
import { html } from '../html.js'

/**
 * A part of a page that a click opens, and that is made only then.
 * @param {{ title: string, open?: boolean, children: () => any }} props
 */
export function Fold({ title, open = false, children }) {
  const [isOpen, setOpen] = useState(open)
  return html`
    <details class="fold" open=${isOpen} onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
      <summary>${title}</summary>
      ${isOpen && children()}
    </details>
  `
}
