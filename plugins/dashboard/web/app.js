import { useCallback, useEffect, useState } from 'preact/hooks'
import { ask, whenSignedOut } from './api.js'
import { html } from './html.js'
import { SignIn } from './pages/sign-in.js'
import { pageAt, pages } from './pages.js'
import { Missing } from './parts/notice.js'
import { Shell } from './parts/shell.js'
import { usePlace } from './router.js'

/**
 * Who is signed in.
 * @typedef {{ id: string, type: 'admin' | 'user', user_id: string | null, plan: string }} Session
 */

/** Asks for a key until somebody is signed in, and then shows the page of the place. */
export function App() {
  const [session, setSession] = useState(/** @type {Session | null | undefined} */ (undefined))
  const place = usePlace()

  const look = useCallback(async () => {
    setSession(await ask('GET', '/api/auth/session').catch(() => null))
  }, [])
  useEffect(() => {
    whenSignedOut(() => setSession(null))
    void look()
  }, [])

  if (session === undefined) return html`<main class="waiting" aria-busy="true"></main>`
  if (session === null) return html`<${SignIn} signedIn=${look} />`

  const signOut = async () => {
    await ask('DELETE', '/api/auth/session').catch(() => {})
    setSession(null)
  }
  const shown = pages.filter(({ admin }) => !admin || session.type === 'admin')
  const found = pageAt(place.path, shown)
  return html`
    <${Shell} pages=${shown} current=${found?.page} session=${session} signOut=${signOut}>
      ${
        found
          ? html`<${found.page.show} key=${place.path} ...${found.values} query=${place.query} session=${session} />`
          : html`<${Missing} />`
      }
    <//>
  `
}
