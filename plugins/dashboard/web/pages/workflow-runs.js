import { column, link, number, state, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { duration, usd } from '../text.js'
import { tabs } from './workflows.js'

/** The runs of workflows. */
export const WorkflowRuns = listPage({
  at: '/workflows/runs',
  title: 'Runs of workflows',
  tabs,
  path: '/api/forge/runs',
  items: 'runs',
  label: 'Runs',
  empty: 'No run fits.',
  everyMs: 5000,
  filters: [
    { name: 'workflow', label: 'Workflow' },
    {
      name: 'status',
      label: 'Status',
      choices: ['queued', 'running', 'waiting_human', 'completed', 'failed', 'cancelled', 'budget_exceeded'],
    },
  ],
  columns: [
    link('Run', 'id', ({ id }) => `/workflows/runs/${id}`),
    column('Workflow', 'workflow_slug'),
    state('Status', 'status'),
    column('Steps', 'steps_completed', (done, { steps_total }) => `${done} of ${steps_total}`),
    number('Time', 'duration_ms', duration),
    number('Cost', 'cost_usd', usd),
    time('Began', 'started_at'),
  ],
})
