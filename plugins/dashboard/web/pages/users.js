import { useState } from 'preact/hooks'
import { ask } from '../api.js'
import { html } from '../html.js'
import { useAction, useList } from '../load.js'
import { Listing } from '../parts/listing.js'
import { Problem } from '../parts/notice.js'
import { SecretOnce } from '../parts/secret.js'
import { Link } from '../router.js'
import { none, when } from '../text.js'

const columns = [
  {
    title: 'E-mail',
    cell: (/** @type {any} */ row) => html`<${Link} to=${`/users/${row.user_id}`}>${row.email}<//>`,
  },
  { title: 'Name', cell: (/** @type {any} */ row) => row.name ?? none },
  { title: 'Plan', cell: (/** @type {any} */ row) => row.plan },
  { title: 'Since', cell: (/** @type {any} */ row) => when(row.created_at) },
]

/**
 * Everybody who has keys, and a form for one more.
 * @param {{ query: Record<string, string> }} props
 */
export function Users({ query }) {
  const list = useList('/api/auth/users', query)
  const [made, setMade] = useState('')
  /** @param {string} key */
  const show = (key) => {
    setMade(key)
    list.reload()
  }
  return html`
    <h1>Users</h1>
    ${made !== '' && html`<${SecretOnce} label="The new user's key." value=${made} done=${() => setMade('')} />`}
    <${NewUser} made=${show} />
    <${Listing} of=${list} items="users" label="Users" columns=${columns} empty="There are no users yet." at="/users" query=${query} keyOf=${(/** @type {any} */ row) => row.user_id} />
  `
}

/** @param {{ made: (key: string) => void }} props */
function NewUser({ made }) {
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const { busy, error, run } = useAction()
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault()
    await run(async () => {
      const { api_key } = await ask('POST', '/api/auth/users', {
        body: { email, ...(name !== '' && { name }) },
      })
      setEmail('')
      setName('')
      made(api_key)
    })
  }
  return html`
    <form class="filter" onSubmit=${submit}>
      <label>E-mail <input type="email" required value=${email} onInput=${(/** @type {any} */ event) => setEmail(event.target.value)} /></label>
      <label>Name <input value=${name} onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></label>
      <button type="submit" disabled=${busy}>Add a user</button>
    </form>
    <${Problem} error=${error} />
  `
}
