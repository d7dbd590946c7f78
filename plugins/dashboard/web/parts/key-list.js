import { useState } from 'preact/hooks'
import { ask } from '../api.js'
import { html } from '../html.js'
import { useAction, useLoad } from '../load.js'
import { none, when } from '../text.js'
import { Badge, Empty, Loads, Problem } from './notice.js'
import { SecretOnce, SureButton } from './secret.js'
import { Table } from './table.js'

/**
 * Keys below a path of the API: listed, made, rotated and revoked.
 * @param {{ path: string }} props
 */
export function KeyList({ path }) {
  const list = useLoad(path)
  const [made, setMade] = useState('')
  const [name, setName] = useState('')
  const { busy, error, run } = useAction()
  /** @param {() => Promise<any>} work */
  const change = (work) =>
    run(async () => {
      setMade((await work())?.api_key ?? '')
      list.reload()
    })
  /** @param {Event} event */
  const add = async (event) => {
    event.preventDefault()
    if (await change(() => ask('POST', path, { body: name === '' ? {} : { name } }))) setName('')
  }
  const columns = [
    { title: 'Name', cell: (/** @type {any} */ row) => row.name ?? none },
    { title: 'Key', cell: (/** @type {any} */ row) => html`<code>${row.prefix}…${row.last_four}</code>` },
    {
      title: 'Status',
      cell: (/** @type {any} */ row) =>
        html`<${Badge} tone=${row.status === 'active' ? 'good' : 'calm'}>${row.status}<//>`,
    },
    { title: 'Last used', cell: (/** @type {any} */ row) => when(row.last_used_at) },
    { title: 'Expires', cell: (/** @type {any} */ row) => when(row.expires_at) },
    {
      title: 'Change',
      cell: (/** @type {any} */ row) =>
        row.status === 'active' &&
        html`
          <span class="row">
            <${SureButton} ask="The key ends at once." disabled=${busy} onClick=${() => change(() => ask('POST', `${path}/${row.id}/rotate`, { body: {} }))}>Rotate<//>
            <${SureButton} ask="The key ends at once." disabled=${busy} onClick=${() => change(() => ask('DELETE', `${path}/${row.id}`))}>Revoke<//>
          </span>
        `,
    },
  ]
  return html`
    ${made !== '' && html`<${SecretOnce} label="The new key." value=${made} done=${() => setMade('')} />`}
    <form class="filter" onSubmit=${add}>
      <label>Name <input value=${name} maxlength="200" onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></label>
      <button type="submit" disabled=${busy}>Make a key</button>
    </form>
    <${Problem} error=${error} />
    <${Loads} of=${list}>
      ${(/** @type {any} */ data) =>
        data.keys.length === 0
          ? html`<${Empty}>There are no keys.<//>`
          : html`<${Table} label="Keys" columns=${columns} rows=${data.keys} keyOf=${(/** @type {any} */ row) => row.id} />`}
    <//>
  `
}
