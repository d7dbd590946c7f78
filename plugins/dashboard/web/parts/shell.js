import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { groups } from '../pages.js'
import { Link } from '../router.js'

/**
 * What stands around every page: the menu beside it, or behind a button on narrow screens.
 * @param {{ pages: readonly import('../pages.js').Page[], current: import('../pages.js').Page | undefined,
 *   session: import('../app.js').Session, signOut: () => void, children: import('../html.js').Children }} props
 */
export function Shell({ pages, current, session, signOut, children }) {
  const [isOpen, setOpen] = useState(false)
  return html`
    <a class="skip" href="#content">Skip to the content</a>
    <header class="bar">
      <${Link} to="/" class="brand">Switchyard<//>
      <button type="button" class="quiet menu-button" aria-expanded=${isOpen} aria-controls="menu" onClick=${() => setOpen(!isOpen)}>Menu</button>
      <div class="who">
        <span>${session.type === 'admin' ? 'admin' : session.user_id}</span>
        <button type="button" class="quiet" onClick=${signOut}>Sign out</button>
      </div>
    </header>
    <div class="frame">
      <nav id="menu" class=${isOpen ? 'menu open' : 'menu'} aria-label="Pages" onClick=${() => setOpen(false)}>
        ${groups.map((group) => html`<${Group} key=${group} title=${group} pages=${pages.filter((page) => page.group === group)} current=${current} />`)}
      </nav>
      <main id="content" tabindex="-1">${children}</main>
    </div>
  `
}

/** @param {{ title: string, pages: readonly import('../pages.js').Page[], current: import('../pages.js').Page | undefined }} props */
function Group({ title, pages, current }) {
  if (pages.length === 0) return null
  const top = `/${current?.at.split('/')[1] ?? ''}`
  return html`
    <p id=${`menu-${title}`}>${title}</p>
    <ul aria-labelledby=${`menu-${title}`}>
      ${pages.map(({ at, title: name }) => html`<li key=${at}><${Link} to=${at} current=${current !== undefined && at === top}>${name}<//></li>`)}
    </ul>
  `
}
