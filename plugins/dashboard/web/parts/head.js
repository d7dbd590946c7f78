import { html } from '../html.js'
import { Link } from '../router.js'

/**
 * The head of a page: where it belongs, what it is called, and what can be done on it.
 * @param {{ title: any, trail?: readonly (readonly [string, string])[], tabs?: readonly (readonly [string, string])[], at?: string,
 *   children?: import('../html.js').Children }} props `tabs` are pages beside this one, by path and title, of which `at` is this one
 */
export const Head = ({ title, trail = [], tabs = [], at, children }) => html`
  ${trail.length > 0 && html`<nav class="trail" aria-label="Above">${trail.map(([to, name]) => html`<${Link} to=${to}>${name}<//> `)}</nav>`}
  <div class="head"><h1>${title}</h1>${children}</div>
  ${
    tabs.length > 0 &&
    html`<nav class="tabs" aria-label="Beside">${tabs.map(([to, name]) => html`<${Link} to=${to} current=${to === at}>${name}<//>`)}</nav>`
  }
`
