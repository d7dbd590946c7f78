import { column, number, time, trace } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { usd } from '../text.js'
import { tabs } from './autopilot.js'

/** Where autopilot has led calls, and what that saved. */
export const AutopilotDecisions = listPage({
  at: '/autopilot/decisions',
  title: 'Decisions of autopilot',
  tabs,
  path: '/api/autopilot/decisions',
  items: 'decisions',
  label: 'Decisions',
  empty: 'No call was routed yet.',
  everyMs: 15_000,
  columns: [
    time('Time', 'created_at'),
    column('Asked for', 'requested_model'),
    column('Led to', 'routed_model'),
    column('Because', 'reason'),
    number('Would cost', 'baseline_cost', usd),
    number('Cost', 'actual_cost', usd),
    number('Saved', 'actual_savings', usd),
    trace(),
  ],
})
