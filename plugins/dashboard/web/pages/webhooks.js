import { column, link, number, state, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'

/** The webhooks, and how their receivers answer. */
export const Webhooks = listPage({
  at: '/webhooks',
  title: 'Webhooks',
  path: '/api/webhooks',
  items: 'webhooks',
  label: 'Webhooks',
  empty: 'There are no webhooks.',
  everyMs: 15_000,
  create: ['/webhooks/new', 'New webhook'],
  columns: [
    link('Name', 'name', ({ id }) => `/webhooks/${id}`),
    state('Status', 'status'),
    column('Address', 'url'),
    column('Format', 'format'),
    column('Events', 'events'),
    number('Failures in a row', 'consecutive_failures'),
    time('Last delivery', 'last_delivery_at'),
  ],
})
