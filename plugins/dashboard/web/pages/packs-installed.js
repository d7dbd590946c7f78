import { ask } from '../api.js'
import { html } from '../html.js'
import { Actions } from '../parts/actions.js'
import { column, link, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { tabs } from './packs.js'

/**
 * @param {string} id
 * @param {() => void} reload
 */
const uninstall = (id, reload) => html`
  <${Actions}
    label="Pack"
    done=${reload}
    of=${[
      {
        title: 'Take away',
        sure: 'What was there before comes back.',
        run: () => ask('DELETE', `/api/exchange/installed/${encodeURIComponent(id)}`),
      },
    ]}
  />
`

/** The packs that are installed. */
export const PacksInstalled = listPage({
  at: '/packs/installed',
  title: 'Installed packs',
  tabs,
  path: '/api/exchange/installed',
  items: 'installed',
  label: 'Installed packs',
  empty: 'No pack is installed.',
  columns: (reload) => [
    link('Pack', 'slug', ({ slug }) => `/packs/${slug}`),
    column('Version', 'version'),
    column('Newest', 'latest_version'),
    column('Changed since', 'drift', (drift) => (drift ? 'yes' : 'no')),
    time('Installed', 'installed_at'),
    column('Do', 'id', (id) => uninstall(id, reload)),
  ],
})
