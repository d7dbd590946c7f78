import { link, number, state, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { size } from '../text.js'

/** Packs of evidence for auditors. */
export const Evidence = listPage({
  at: '/evidence',
  title: 'Evidence',
  path: '/api/trust/evidence',
  items: 'packs',
  label: 'Packs of evidence',
  empty: 'There are no packs of evidence.',
  everyMs: 10_000,
  create: ['/evidence/new', 'Collect a pack'],
  columns: [
    link('Name', 'name', ({ id }) => `/evidence/${id}`),
    state('Status', 'status'),
    time('From', 'date_from'),
    time('To', 'date_to'),
    number('Events', 'event_count'),
    number('Size', 'size_bytes', size),
    time('Made', 'created_at'),
    time('Kept until', 'expires_at'),
  ],
})
