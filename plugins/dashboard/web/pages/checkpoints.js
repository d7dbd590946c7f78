import { ask } from '../api.js'
import { html } from '../html.js'
import { column, number, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { tabs } from './ledger.js'

const code = (/** @type {string} */ text) => html`<code>${text}</code>`

/** The signed checkpoints of the ledger. */
export const Checkpoints = listPage({
  at: '/ledger/checkpoints',
  title: 'Checkpoints',
  tabs,
  path: '/api/trust/ledger/checkpoints',
  items: 'checkpoints',
  label: 'Checkpoints',
  empty: 'There are no checkpoints yet.',
  keyOf: ({ seq, created_at }) => `${seq} ${created_at}`,
  actions: () => [
    { title: 'Make a checkpoint', main: true, run: () => ask('POST', '/api/trust/ledger/checkpoints') },
  ],
  columns: [
    time('Time', 'created_at'),
    number('Up to entry', 'seq'),
    column('Hash', 'head_hash', code),
    column('Signed with', 'key_id', code),
  ],
})
