import { ask } from '../api.js'
import { html } from '../html.js'
import { State } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { Past, usePast } from '../parts/past.js'
import { Link } from '../router.js'
import { count, when } from '../text.js'
import { fields } from './guardrail-new.js'

/**
 * One rule: how it does, what it would have found, and its settings.
 * @param {{ id: string }} props
 */
export function Guardrail({ id }) {
  const path = `/api/guardrails/${encodeURIComponent(id)}`
  const past = usePast()
  const change = (/** @type {object} */ body) => () => ask('PUT', path, { body })
  return html`
    <${Detail}
      path=${path}
      up=${['/guardrails', 'Guardrails']}
      title=${(/** @type {any} */ rule) => rule.name}
      actions=${(/** @type {any} */ rule) => [
        { title: 'Test on past calls', main: true, run: () => past.test({ rule_ids: [id] }) },
        { title: rule.enabled ? 'Switch off' : 'Switch on', run: change({ enabled: !rule.enabled }) },
        rule.mode === 'shadow'
          ? { title: 'Enforce', run: change({ mode: 'enforce' }) }
          : { title: 'Only watch (shadow)', run: change({ mode: 'shadow' }) },
      ]}
      facts=${(/** @type {any} */ rule) => [
        ['In force', html`<${State} of=${rule.enabled} />`],
        ['Mode', rule.mode],
        ['Action', rule.action],
        ['Direction', rule.direction],
        ['Severity', html`<${State} of=${rule.severity} />`],
        [
          'Matches in 24 h',
          html`<${Link} to="/guardrails/matches" query=${{ rule_id: id }}>${count(rule.hits_24h)}<//>`,
        ],
        ['Last match', when(rule.last_hit_at)],
        ['Version', rule.version],
        ['Changed', when(rule.updated_at)],
      ]}
      change=${{ operation: 'PUT /api/guardrails/{id}', params: { id }, fields }}
      remove="The rule ends with the next call."
    >
      ${() => html`<${Past} found=${past.found} />`}
    <//>
  `
}
