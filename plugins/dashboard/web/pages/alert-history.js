import { column, link, number, state, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { figure, tabs } from './alerts.js'

/** @param {readonly any[]} all */
const told = (all) => all.map(({ type, status }) => `${type}: ${status}`).join(', ')

/** What alert rules have fired. */
export const AlertHistory = listPage({
  at: '/alerts/history',
  title: 'History of alerts',
  tabs,
  path: '/api/observe/alerts/history',
  items: 'history',
  label: 'Firings',
  empty: 'Nothing has fired.',
  everyMs: 10_000,
  filters: [
    { name: 'alert_id', label: 'Rule' },
    { name: 'state', label: 'State', choices: ['firing', 'resolved'] },
  ],
  columns: [
    time('Fired', 'fired_at'),
    link('Rule', 'rule_name', ({ alert_id }) => `/alerts/${alert_id}`),
    column('Group', 'group'),
    state('Severity', 'severity'),
    number('Value', 'metric_value', figure),
    number('Threshold', 'threshold', figure),
    time('Resolved', 'resolved_at'),
    time('Acknowledged', 'acknowledged_at'),
    column('Note', 'note'),
    column('Told', 'deliveries', told),
  ],
})
