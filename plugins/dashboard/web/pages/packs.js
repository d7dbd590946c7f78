import { column, link, number, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'

export const tabs = /** @type {const} */ ([
  ['/packs', 'Packs'],
  ['/packs/installed', 'Installed'],
])

/** The packs that can be installed. */
export const Packs = listPage({
  at: '/packs',
  title: 'Packs',
  tabs,
  path: '/api/exchange/packs',
  items: 'packs',
  label: 'Packs',
  empty: 'There are no packs.',
  create: ['/packs/new', 'Publish a pack'],
  columns: [
    link('Name', 'name', ({ slug }) => `/packs/${slug}`),
    column('Type', 'pack_type'),
    column('Version', 'version'),
    column('Author', 'author'),
    column('Tags', 'tags'),
    number('Installs', 'installs'),
    time('Changed', 'updated_at'),
  ],
})
