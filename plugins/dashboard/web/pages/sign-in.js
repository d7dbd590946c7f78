import { useState } from 'preact/hooks'
import { ask } from '../api.js'
import { html } from '../html.js'
import { useAction } from '../load.js'
import { Problem } from '../parts/notice.js'

/**
 * Asks for a key. The browser keeps a session in its place, which scripts cannot read.
 * @param {{ signedIn: () => Promise<void> }} props
 */
export function SignIn({ signedIn }) {
  const [key, setKey] = useState('')
  const { busy, error, run } = useAction()
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault()
    await run(async () => {
      await ask('POST', '/api/auth/session', { body: {}, key: key.trim() })
      await signedIn()
    })
  }
  return html`
    <main class="sign-in">
      <h1>Switchyard</h1>
      <form onSubmit=${submit}>
        <label for="key">Key of an admin or a user</label>
        <input
          id="key"
          type="password"
          autocomplete="current-password"
          required
          value=${key}
          onInput=${(/** @type {any} */ event) => setKey(event.target.value)}
        />
        <button type="submit" disabled=${busy || key.trim() === ''}>Sign in</button>
        <${Problem} error=${error} />
      </form>
      <p class="hint">The first admin key is printed by the first start, unless <code>SERVICE_ADMIN_KEY</code> sets it.</p>
    </main>
  `
}
