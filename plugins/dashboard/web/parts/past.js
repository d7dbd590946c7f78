import { useState } from 'preact/hooks'
import { ask } from '../api.js'
import { html } from '../html.js'
import { count } from '../text.js'
import { Bars } from './chart.js'
import { column, time, trace } from './columns.js'
import { Table } from './table.js'

/** Tests guardrail rules on calls of the past. */
export function usePast() {
  const [found, setFound] = useState(/** @type {any} */ (undefined))
  const test = async (/** @type {object} */ body) =>
    setFound(await ask('POST', '/api/guardrails/history', { body: { examples: 20, ...body } }))
  return { found, test }
}

const columns = [time('Time', 'timestamp'), trace(), column('Match', 'match_preview')]

/**
 * What rules would have matched.
 * @param {{ found: any }} props
 */
export const Past = ({ found }) =>
  found &&
  html`
    <section role="status">
      <h2>In past calls</h2>
      <p>${count(found.matched)} of ${count(found.checked)} calls match${found.complete ? '' : ', as far as there was time to look'}; ${count(found.without_bodies)} have no bodies.</p>
      <${Bars} title="Matches" items=${found.by_rule.map((/** @type {any} */ one) => ({ name: one.rule_name, value: one.matches }))} format=${count} />
      ${found.examples.length > 0 && html`<${Table} label="Examples" columns=${columns} rows=${found.examples} keyOf=${(/** @type {any} */ row) => row.trace_id} />`}
    </section>
  `
