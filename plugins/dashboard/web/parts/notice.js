import { ApiError } from '../api.js'
import { html } from '../html.js'

/**
 * Why something did not work, with what can be done.
 * @param {{ error: Error | undefined, retry?: () => void }} props
 */
export function Problem({ error, retry }) {
  if (!error) return null
  const { param = null, retryAfterS = 0 } = error instanceof ApiError ? error : {}
  return html`
    <div class="problem" role="alert">
      <p>${param !== null && html`<code>${param}</code>: `}${error.message}${retryAfterS > 0 && ` Try again in ${retryAfterS} s.`}</p>
      ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
    </div>
  `
}

/**
 * What a list says that has nothing to show.
 * @param {{ children: import('../html.js').Children }} props
 */
export const Empty = ({ children }) => html`<p class="empty">${children}</p>`

export const Missing = () => html`<h1>Not found</h1><p>The dashboard has no such page.</p>`

/**
 * What came of a load: its problem, a placeholder while it runs, or what is made of its data.
 * @param {{ of: import('../load.js').Loaded, children: (data: any) => any }} props
 */
export function Loads({ of: { data, error, reload }, children }) {
  return html`
    <${Problem} error=${error} retry=${reload} />
    ${data === undefined ? !error && html`<div class="waiting" aria-busy="true"></div>` : children(data)}
  `
}

/**
 * A state in one word. Its color repeats what the word says.
 * @param {{ tone: 'good' | 'bad' | 'warn' | 'calm', children: import('../html.js').Children }} props
 */
export const Badge = ({ tone, children }) => html`<span class=${`badge ${tone}`}>${children}</span>`
