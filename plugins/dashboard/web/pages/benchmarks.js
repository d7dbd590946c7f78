import { column, link, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { tabs } from './experiments.js'

/** The benchmarks: cases with assertions, for several models. */
export const Benchmarks = listPage({
  at: '/benchmarks',
  title: 'Benchmarks',
  tabs,
  path: '/api/studio/benchmarks',
  items: 'benchmarks',
  label: 'Benchmarks',
  empty: 'There are no benchmarks.',
  create: ['/benchmarks/new', 'New benchmark'],
  columns: [
    link('Name', 'name', ({ id }) => `/benchmarks/${id}`),
    column('Description', 'description'),
    column('Seen by', 'visibility'),
    time('Changed', 'updated_at'),
  ],
})
