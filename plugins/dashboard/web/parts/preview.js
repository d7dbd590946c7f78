import { useState } from 'preact/hooks'
import { ask } from '../api.js'
import { html } from '../html.js'
import { count } from '../text.js'
import { TimeChart } from './chart.js'
import { column, number, time } from './columns.js'
import { Table } from './table.js'

/** Looks how often an alert rule would have fired in the last day. */
export function usePreview() {
  const [found, setFound] = useState(/** @type {any} */ (undefined))
  const look = async (/** @type {object} */ rule) =>
    setFound(await ask('POST', '/api/observe/alerts/preview', { body: { rule, hours: 24 } }))
  return { found, look }
}

const parts = 48

/**
 * How many groups of calls fire in each half hour.
 * @param {any} preview
 */
function firingOver({ from, to, firings }) {
  const [start, end] = [Date.parse(from), Date.parse(to)]
  const step = (end - start) / parts
  const starts = Array.from({ length: parts }, (_, n) => start + n * step)
  return {
    times: starts.map((at) => new Date(at).toISOString()),
    values: starts.map(
      (at) =>
        firings.filter(
          (/** @type {any} */ one) =>
            Date.parse(one.fired_at) < at + step &&
            (one.resolved_at === null || Date.parse(one.resolved_at) >= at),
        ).length,
    ),
  }
}

const columns = [
  time('Fires', 'fired_at'),
  time('Ends', 'resolved_at'),
  column('Group', 'group'),
  number('Value', 'metric_value'),
]

/**
 * When a rule would have fired.
 * @param {{ found: any }} props
 */
export function Preview({ found }) {
  if (!found) return null
  const { times, values } = firingOver(found)
  return html`
    <section role="status">
      <h2>In the last 24 hours</h2>
      <p>It would have fired ${count(found.would_fire)} times, in ${count(found.calls)} calls${found.complete ? '' : ', as far as there was time to look'}.</p>
      ${found.warnings.map((/** @type {string} */ text) => html`<p class="warning">${text}</p>`)}
      <${TimeChart} title="Firing" times=${times} lines=${[{ label: 'Firing', values, color: '--bad' }]} format=${count} />
      ${found.firings.length > 0 && html`<${Table} label="Firings" columns=${columns} rows=${found.firings} keyOf=${(/** @type {any} */ row) => `${row.fired_at} ${row.group}`} />`}
    </section>
  `
}
