import { useState } from 'preact/hooks'
import { ask } from '../api.js'
import { html } from '../html.js'
import { useLoad } from '../load.js'
import { Actions } from '../parts/actions.js'
import { Bars } from '../parts/chart.js'
import { column, number, State, state } from '../parts/columns.js'
import { Head } from '../parts/head.js'
import { Empty, Loads } from '../parts/notice.js'
import { Facts, Table } from '../parts/table.js'
import { count, duration, usd, when } from '../text.js'

const columns = [
  column('What', 'title'),
  state('Priority', 'priority'),
  column('About', 'category'),
  number('A month', 'impact', (impact) => usd(impact.usd_month)),
  column('Confidence', 'confidence'),
  column('Effort', 'effort'),
  column('Why', 'description'),
]

/** Looks at the calls of a week, says what to change, and changes what is safe. */
export function Optimize() {
  const readiness = useLoad('/api/optimize')
  const [found, setFound] = useState(/** @type {any} */ (undefined))
  const look = (/** @type {boolean} */ apply) => async () => {
    setFound(await ask('POST', '/api/optimize', { body: { apply } }))
    readiness.reload()
  }
  return html`
    <${Head} title="Optimise">
      <${Actions}
        of=${[
          { title: 'Look', main: true, run: look(false) },
          {
            title: 'Look and apply',
            sure: 'What is safe is changed at once. It can be taken back.',
            run: look(true),
          },
        ]}
      />
    <//>
    <${Loads} of=${readiness}>
      ${(/** @type {any} */ data) => html`
        <${Facts}
          of=${[
            ['Status', html`<${State} of=${data.status} />`],
            ['Calls', `${count(data.traces_available)} of ${count(data.traces_needed)} that it takes`],
            ['Spent in 7 days', usd(data.total_spend_7d)],
            ['Last look', when(data.last_run?.at)],
          ]}
        />
      `}
    <//>
    ${found && html`<${Found} of=${found} />`}
  `
}

/** @param {{ of: any }} props */
function Found({ of: { summary, actions, applied, duration_ms } }) {
  const [back, setBack] = useState(/** @type {readonly string[]} */ ([]))
  const undo = (/** @type {string} */ id) => async () => {
    await ask('POST', '/api/optimize/rollback', { body: { rollback_id: id } })
    setBack([...back, id])
  }
  return html`
    <section role="status">
      <h2>What was found</h2>
      <p>${count(summary.traces_analyzed)} calls in ${duration(duration_ms)}; ${usd(summary.projected_monthly_savings_usd)} a month can be saved. Grade: ${summary.grade ?? 'none'}.</p>
      ${
        actions.length === 0
          ? html`<${Empty}>There is nothing to change.<//>`
          : html`
              <${Bars} title="Saved a month" items=${actions.map((/** @type {any} */ one) => ({ name: one.title, value: one.impact.usd_month ?? 0 }))} format=${usd} />
              <${Table} label="What to change" columns=${columns} rows=${actions} keyOf=${(/** @type {any} */ row) => row.id} />
            `
      }
      ${applied
        .filter((/** @type {any} */ one) => one.rollback_id && !back.includes(one.rollback_id))
        .map(
          (/** @type {any} */ one) => html`
            <p key=${one.rollback_id}>${actions.find((/** @type {any} */ { id }) => id === one.action_id)?.title} was applied. <${Actions} label="Applied" of=${[{ title: 'Take back', run: undo(one.rollback_id) }]} /></p>
          `,
        )}
    </section>
  `
}
