import { link, number, state, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { figure } from './alerts.js'

/** Calls and times that are far from what is usual. A user sees the own ones. */
export const Anomalies = listPage({
  at: '/anomalies',
  title: 'Anomalies',
  path: '/api/observe/anomalies',
  items: 'anomalies',
  label: 'Anomalies',
  empty: 'Nothing unusual was found.',
  everyMs: 15_000,
  filters: [
    { name: 'kind', label: 'Kind', choices: ['call', 'rate', 'drift'] },
    { name: 'severity', label: 'Severity', choices: ['info', 'warning', 'critical'] },
    { name: 'acknowledged', label: 'Acknowledged', choices: ['true', 'false'] },
    { name: 'model', label: 'Model' },
  ],
  columns: [
    time('Found', 'detected_at'),
    link('What', 'message', ({ id }) => `/anomalies/${id}`),
    state('Severity', 'severity'),
    number('Expected', 'expected', figure),
    number('Was', 'actual', figure),
    number('Calls', 'count'),
    time('Acknowledged', 'acknowledged_at'),
  ],
})
