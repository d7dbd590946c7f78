import { column, link, state, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { labelOf, none } from '../text.js'

export const tabs = /** @type {const} */ ([
  ['/alerts', 'Rules'],
  ['/alerts/history', 'History'],
])

const signs = /** @type {Record<string, string>} */ ({ gt: '>', gte: '≥', lt: '<', lte: '≤' })

/**
 * What a rule watches, in one line.
 * @param {any} rule
 */
export const conditionOf = ({ metric, condition, threshold, window_seconds }) =>
  `${labelOf(metric)} ${signs[condition] ?? condition} ${threshold} in ${window_seconds} s`

/** @param {number | null | undefined} value */
export const figure = (value) => (value == null ? none : String(Number(value.toPrecision(4))))

/** The alert rules, and how they stand. */
export const Alerts = listPage({
  at: '/alerts',
  title: 'Alerts',
  tabs,
  path: '/api/observe/alerts',
  items: 'alerts',
  label: 'Alert rules',
  empty: 'There are no alert rules.',
  everyMs: 10_000,
  create: ['/alerts/new', 'New rule'],
  columns: [
    link('Name', 'name', ({ id }) => `/alerts/${id}`),
    column('When', 'metric', (_, row) => conditionOf(row)),
    state('State', 'state'),
    column('Value', 'last_value', figure),
    state('Severity', 'severity'),
    state('Watches', 'enabled'),
    time('Fired', 'last_fired_at'),
    time('Silent until', 'silenced_until'),
  ],
})
