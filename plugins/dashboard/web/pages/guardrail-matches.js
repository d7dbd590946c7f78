import { column, link, number, state, time, trace } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { tabs } from './guardrails.js'

/** What rules have matched in calls. */
export const GuardrailMatches = listPage({
  at: '/guardrails/matches',
  title: 'Matches of guardrails',
  tabs,
  path: '/api/guardrails/events',
  items: 'events',
  label: 'Matches',
  empty: 'No rule has matched.',
  everyMs: 10_000,
  filters: [
    { name: 'rule_id', label: 'Rule' },
    { name: 'project', label: 'Project' },
    { name: 'user_id', label: 'User' },
    { name: 'action', label: 'Action', choices: ['block', 'redact', 'warn', 'log'] },
  ],
  columns: [
    time('Time', 'timestamp'),
    link('Rule', 'rule_name', ({ rule_id }) => `/guardrails/${rule_id}`),
    state('Action', 'action'),
    column('Mode', 'mode'),
    column('Direction', 'direction'),
    column('Match', 'match_preview'),
    number('Matches', 'matches'),
    column('User', 'user_id'),
    trace(),
  ],
})
