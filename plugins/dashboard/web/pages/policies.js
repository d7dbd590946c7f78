import { column, link, number, state } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'

/** The trust policies. */
export const Policies = listPage({
  at: '/policies',
  title: 'Policies',
  path: '/api/trust/policies',
  items: 'policies',
  label: 'Policies',
  empty: 'There are no policies.',
  everyMs: 15_000,
  create: ['/policies/new', 'New policy'],
  columns: [
    link('Name', 'name', ({ id }) => `/policies/${id}`),
    column('Action', 'action'),
    state('In force', 'enabled'),
    column('Mode', 'mode'),
    column('Rules', 'rules', (rules) => rules.length),
    number('Matches, 24 h', 'hits_24h'),
  ],
})
