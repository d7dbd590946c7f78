import { ask } from '../api.js'
import { html } from '../html.js'
import { column, plain, State } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { PolicyPast, usePolicyPast } from '../parts/policy-past.js'
import { Table } from '../parts/table.js'
import { count, labelOf, when } from '../text.js'
import { fields } from './policy-new.js'

const columns = [
  column('Field', 'field'),
  column('Pattern', 'pattern'),
  column('Looks at', 'target'),
  column('Turned round', 'negate'),
  column('Description', 'description'),
]

/**
 * One policy: its rules, and the past calls that it would have met.
 * @param {{ id: string }} props
 */
export function Policy({ id }) {
  const path = `/api/trust/policies/${encodeURIComponent(id)}`
  const past = usePolicyPast()
  const change = (/** @type {object} */ body) => () => ask('PUT', path, { body })
  return html`
    <${Detail}
      path=${path}
      up=${['/policies', 'Policies']}
      title=${(/** @type {any} */ policy) => policy.name}
      actions=${(/** @type {any} */ policy) => [
        { title: 'Test on past calls', main: true, run: () => past.test({ policy_ids: [id] }) },
        { title: policy.enabled ? 'Switch off' : 'Switch on', run: change({ enabled: !policy.enabled }) },
        policy.mode === 'shadow'
          ? { title: 'Enforce', run: change({ mode: 'enforce' }) }
          : { title: 'Only watch (shadow)', run: change({ mode: 'shadow' }) },
      ]}
      facts=${(/** @type {any} */ policy) => [
        ['In force', html`<${State} of=${policy.enabled} />`],
        ['Mode', policy.mode],
        ['Action', policy.action],
        ['Matches in 24 h', count(policy.hits_24h)],
        ['Version', policy.version],
        ['Changed', when(policy.updated_at)],
        ...Object.entries(policy.scope).map(([name, value]) => [labelOf(name), plain(value)]),
      ]}
      change=${{ operation: 'PUT /api/trust/policies/{id}', params: { id }, fields }}
      remove="The policy ends with the next call."
    >
      ${(/** @type {any} */ policy) => html`
        <${PolicyPast} found=${past.found} />
        <section>
          <h2>Rules</h2>
          <${Table} label="Rules" columns=${columns} rows=${policy.rules} keyOf=${(/** @type {any} */ row) => JSON.stringify(row)} />
        </section>
      `}
    <//>
  `
}
