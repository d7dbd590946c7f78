import { column, link, number, state } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'

export const tabs = /** @type {const} */ ([
  ['/guardrails', 'Rules'],
  ['/guardrails/matches', 'Matches'],
  ['/guardrails/try', 'Try'],
])

/** The guardrail rules. */
export const Guardrails = listPage({
  at: '/guardrails',
  title: 'Guardrails',
  tabs,
  path: '/api/guardrails',
  items: 'rules',
  label: 'Guardrail rules',
  empty: 'There are no rules: every call passes.',
  everyMs: 15_000,
  create: ['/guardrails/new', 'New rule'],
  columns: [
    link('Name', 'name', ({ id }) => `/guardrails/${id}`),
    column('Type', 'type'),
    column('Action', 'action'),
    column('Direction', 'direction'),
    column('Project', 'project'),
    state('Severity', 'severity'),
    state('In force', 'enabled'),
    column('Mode', 'mode'),
    number('Matches, 24 h', 'hits_24h'),
  ],
})
