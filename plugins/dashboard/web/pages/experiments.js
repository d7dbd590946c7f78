import { column, link, number, state, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { usd } from '../text.js'

export const tabs = /** @type {const} */ ([
  ['/experiments', 'Experiments'],
  ['/benchmarks', 'Benchmarks'],
])

/** The experiments: variants that answer the same inputs. */
export const Experiments = listPage({
  at: '/experiments',
  title: 'Experiments',
  tabs,
  path: '/api/studio/experiments',
  items: 'experiments',
  label: 'Experiments',
  empty: 'There are no experiments.',
  everyMs: 10_000,
  create: ['/experiments/new', 'New experiment'],
  columns: [
    link('Name', 'name', ({ id }) => `/experiments/${id}`),
    state('Status', 'status'),
    column('Done', 'progress', (progress) => progress && `${progress.done} of ${progress.total}`),
    number('Cost', 'total_cost_usd', usd),
    column('Seen by', 'visibility'),
    time('Made', 'created_at'),
  ],
})
