import { ask } from '../api.js'
import { html } from '../html.js'
import { plain, State } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { Preview, usePreview } from '../parts/preview.js'
import { Link } from '../router.js'
import { count, when } from '../text.js'
import { fields, without } from './alert-new.js'
import { conditionOf, figure } from './alerts.js'

/**
 * One alert rule: how it stands, who looks after it, when it would have fired, and its settings.
 * @param {{ id: string }} props
 */
export function Alert({ id }) {
  const path = `/api/observe/alerts/${encodeURIComponent(id)}`
  const preview = usePreview()
  return html`
    <${Detail}
      path=${path}
      everyMs=${10_000}
      up=${['/alerts', 'Alerts']}
      title=${(/** @type {any} */ rule) => rule.name}
      actions=${(/** @type {any} */ rule) => [
        rule.state === 'firing' && {
          title: 'Acknowledge',
          main: true,
          run: () => ask('POST', `${path}/acknowledge`, { body: {} }),
        },
        rule.silenced_until === null
          ? {
              title: 'Silence for an hour',
              run: () => ask('POST', `${path}/silence`, { body: { seconds: 3600 } }),
            }
          : { title: 'End the silence', run: () => ask('DELETE', `${path}/silence`) },
        {
          title: rule.enabled ? 'Switch off' : 'Switch on',
          run: () => ask('PUT', path, { body: { enabled: !rule.enabled } }),
        },
        { title: 'Preview', run: () => preview.look(asGiven(rule)) },
      ]}
      facts=${(/** @type {any} */ rule) => [
        ['State', html`<${State} of=${rule.state} />`],
        ['When', conditionOf(rule)],
        ['Value', figure(rule.last_value)],
        ['Fires for', `${count(rule.firing_groups)} of ${count(rule.groups)} groups`],
        ['Severity', html`<${State} of=${rule.severity} />`],
        ['Watches', html`<${State} of=${rule.enabled} />`],
        [
          'Fired',
          html`<${Link} to="/alerts/history" query=${{ alert_id: id }}>${when(rule.last_fired_at)}<//>`,
        ],
        ['Silent until', when(rule.silenced_until)],
        ['Tells', plain(rule.channels.map((/** @type {any} */ one) => one.type))],
        ['Changed', when(rule.updated_at)],
      ]}
      change=${{ operation: 'PUT /api/observe/alerts/{id}', params: { id }, fields, without }}
      remove="What it fires is over. Its history stays."
    >
      ${(/** @type {any} */ rule) => html`
        ${rule.warnings.map((/** @type {string} */ text) => html`<p class="warning">${text}</p>`)}
        <${Preview} found=${preview.found} />
      `}
    <//>
  `
}

/**
 * A rule as somebody would send it.
 * @param {any} rule
 */
const asGiven = ({ name, metric, condition, threshold, window_seconds, min_samples, group_by, filter }) => ({
  name,
  metric,
  condition,
  threshold,
  window_seconds,
  min_samples,
  group_by,
  filter,
})
