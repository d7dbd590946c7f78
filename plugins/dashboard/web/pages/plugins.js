import { useState } from 'preact/hooks'
import { ask } from '../api.js'
import { html } from '../html.js'
import { Actions } from '../parts/actions.js'
import { column, link, plain, state } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { Facts } from '../parts/table.js'

/** @param {{ list: import('../load.js').Loaded }} props */
function Rescan({ list }) {
  const [found, setFound] = useState(/** @type {any} */ (undefined))
  const rescan = async () => setFound(await ask('POST', '/api/plugins/rescan'))
  return html`
    <${Actions} label="Folders" of=${[{ title: 'Read the folders again', run: rescan }]} done=${list.reload} />
    ${
      found &&
      html`
        <div role="status">
          <${Facts}
            of=${[
              ['Added', plain(found.added)],
              ['Changed', plain(found.changed)],
              ['Removed', plain(found.removed)],
              ['Failed', plain(found.failed.map((/** @type {any} */ one) => `${one.name}: ${one.problem}`))],
            ]}
          />
        </div>
      `
    }
  `
}

/** All plugins, built in and from outside. */
export const Plugins = listPage({
  at: '/plugins',
  title: 'Plugins',
  path: '/api/plugins',
  items: 'plugins',
  label: 'Plugins',
  empty: 'No plugins fit.',
  above: ({ list }) => html`<${Rescan} list=${list} />`,
  keyOf: ({ name }) => name,
  filters: [
    { name: 'kind', label: 'Kind', choices: ['module', 'area', 'provider'] },
    { name: 'source', label: 'From', choices: ['builtin', 'local', 'package'] },
    {
      name: 'state',
      label: 'State',
      choices: ['active', 'tripped', 'disabled', 'waiting', 'failed', 'invalid'],
    },
  ],
  columns: [
    link('Name', 'name', ({ name }) => `/plugins/${name}`),
    column('Title', 'title'),
    column('Kind', 'kind'),
    column('From', 'source'),
    column('Version', 'version'),
    state('State', 'state'),
    column('Problem', 'problem'),
  ],
})
