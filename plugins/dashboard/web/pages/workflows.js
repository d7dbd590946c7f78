import { column, link, number, state, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { placeOf } from '../router.js'

export const tabs = /** @type {const} */ ([
  ['/workflows', 'Workflows'],
  ['/workflows/runs', 'Runs'],
])

/** The workflows that the caller may see. */
export const Workflows = listPage({
  at: '/workflows',
  title: 'Workflows',
  tabs,
  path: '/api/forge/workflows',
  items: 'workflows',
  label: 'Workflows',
  empty: 'There are no workflows.',
  create: ['/workflows/new', 'New workflow'],
  columns: [
    link('Name', 'name', ({ slug, user_id }) => placeOf(`/workflows/${slug}`, user_id)),
    column('Address', 'slug'),
    state('On', 'enabled'),
    number('Version', 'version'),
    column('Seen by', 'visibility'),
    time('Changed', 'updated_at'),
  ],
})
