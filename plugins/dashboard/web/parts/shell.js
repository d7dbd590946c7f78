import { html } from '../html.js'
import { Link } from '../router.js'

/**
 * What stands around every page.
 * @param {{ pages: readonly import('../pages.js').Page[], current: import('../pages.js').Page | undefined,
 *   session: import('../app.js').Session, signOut: () => void, children: import('../html.js').Children }} props
 */
export function Shell({ pages, current, session, signOut, children }) {
  const menu = pages.filter(({ title }) => title !== undefined)
  const top = `/${current?.at.split('/')[1] ?? ''}`
  return html`
    <a class="skip" href="#content">Skip to the content</a>
    <header class="bar">
      <${Link} to="/" class="brand">Switchyard<//>
      <nav aria-label="Pages">
        ${menu.map(({ at, title }) => html`<${Link} to=${at} current=${current !== undefined && at === top}>${title}<//>`)}
      </nav>
      <div class="who">
        <span>${session.type === 'admin' ? 'admin' : session.user_id}</span>
        <button type="button" class="quiet" onClick=${signOut}>Sign out</button>
      </div>
    </header>
    <main id="content" tabindex="-1">${children}</main>
  `
}
