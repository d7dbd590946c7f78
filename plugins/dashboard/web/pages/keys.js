import { html } from '../html.js'
import { KeyList } from '../parts/key-list.js'
import { Link } from '../router.js'

/**
 * The keys of whoever is signed in.
 * @param {{ session: import('../app.js').Session }} props
 */
export const Keys = ({ session }) => html`
  <h1>My keys</h1>
  ${
    session.user_id === null
      ? html`<p>You are signed in with an admin key, which belongs to no user. <${Link} to="/users">Users<//> have keys of their own.</p>`
      : html`<${KeyList} path="/api/auth/me/keys" />`
  }
`
