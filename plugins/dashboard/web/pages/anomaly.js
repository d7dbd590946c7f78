import { ask } from '../api.js'
import { html } from '../html.js'
import { Bars } from '../parts/chart.js'
import { column, number, plain, State } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { Table } from '../parts/table.js'
import { Link } from '../router.js'
import { count, labelOf, when } from '../text.js'
import { figure } from './alerts.js'

const columns = [
  column('Metric', 'metric'),
  column('By', 'by'),
  number('Expected', 'expected', figure),
  number('Was', 'actual', figure),
  number('Score', 'score', figure),
  column('Method', 'method'),
]

/**
 * One anomaly: what was expected, what was found, and calls that show it.
 * @param {{ id: string, session: import('../app.js').Session }} props
 */
export function Anomaly({ id, session }) {
  const path = `/api/observe/anomalies/${encodeURIComponent(id)}`
  const isAdmin = session.type === 'admin'
  return html`
    <${Detail}
      path=${path}
      up=${['/anomalies', 'Anomalies']}
      title=${(/** @type {any} */ one) => one.message}
      actions=${(/** @type {any} */ one) => [
        isAdmin &&
          one.acknowledged_at === null && {
            title: 'Acknowledge',
            main: true,
            run: () => ask('POST', `${path}/acknowledge`),
          },
      ]}
      facts=${(/** @type {any} */ one) => [
        ['Severity', html`<${State} of=${one.severity} />`],
        ['Kind', one.kind],
        ['Calls', count(one.count)],
        ['Found', when(one.detected_at)],
        ['Acknowledged', when(one.acknowledged_at)],
        ...Object.entries(one.scope).map(([name, value]) => [labelOf(name), plain(value)]),
      ]}
      remove=${isAdmin ? 'The anomaly is forgotten.' : undefined}
    >
      ${(/** @type {any} */ one) => html`
        <${Bars}
          title=${labelOf(one.metric)}
          items=${[{ name: 'Expected', value: one.expected }, { name: 'Was', value: one.actual }]}
          format=${figure}
        />
        <section>
          <h2>Figures</h2>
          <${Table} label="Figures" columns=${columns} rows=${one.dimensions} keyOf=${(/** @type {any} */ row) => `${row.metric} ${row.by}`} />
        </section>
        <section>
          <h2>Calls</h2>
          <ul>
            ${one.sample_trace_ids.map((/** @type {string} */ trace) => html`<li key=${trace}><${Link} to=${`/traces/${trace}`}>${trace}<//></li>`)}
          </ul>
        </section>
      `}
    <//>
  `
}
