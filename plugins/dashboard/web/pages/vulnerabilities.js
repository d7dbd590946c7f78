import { ask } from '../api.js'
import { html } from '../html.js'
import { Actions } from '../parts/actions.js'
import { column, state, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { tabs } from './campaigns.js'

/**
 * @param {any} row
 * @param {() => void} reload
 * @param {boolean} isAdmin
 */
function actions({ id, status, suggested_rule: rule }, reload, isAdmin) {
  const path = `/api/redteam/vulnerabilities/${encodeURIComponent(id)}`
  const set = (/** @type {string} */ to) => () => ask('PUT', path, { body: { status: to } })
  return html`
    <${Actions}
      label="Vulnerability"
      done=${reload}
      of=${[
        { title: 'Verify', run: () => ask('POST', `${path}/verify`, { body: {} }) },
        isAdmin &&
          rule && { title: 'Add its rule', run: () => ask('POST', '/api/guardrails', { body: rule }) },
        status !== 'accepted' && { title: 'Accept', run: set('accepted') },
        status !== 'open' && { title: 'Open again', run: set('open') },
      ]}
    />
  `
}

/** What campaigns have found. */
export const Vulnerabilities = listPage({
  at: '/redteam/vulnerabilities',
  title: 'Vulnerabilities',
  tabs,
  path: '/api/redteam/vulnerabilities',
  items: 'vulnerabilities',
  label: 'Vulnerabilities',
  empty: 'No vulnerability was found.',
  everyMs: 15_000,
  filters: [
    { name: 'campaign_id', label: 'Campaign' },
    { name: 'status', label: 'Status', choices: ['open', 'mitigated', 'accepted', 'regressed'] },
  ],
  columns: (reload, { session }) => [
    column('What', 'title'),
    state('Severity', 'severity'),
    state('Status', 'status'),
    column('Guard', 'guardrail'),
    column('OWASP', 'taxonomy', ({ owasp_llm }) => owasp_llm),
    column('Again', 'reproductions', ({ tried, succeeded }) => `${succeeded} of ${tried}`),
    time('Verified', 'verified_at'),
    column('Do', 'id', (_, row) => actions(row, reload, session.type === 'admin')),
  ],
})
