import { ask } from '../api.js'
import { html } from '../html.js'
import { useLoad } from '../load.js'
import { Actions } from '../parts/actions.js'
import { Calibrate } from '../parts/calibration.js'
import { Bars } from '../parts/chart.js'
import { column, number, State } from '../parts/columns.js'
import { Fold } from '../parts/fold.js'
import { Head } from '../parts/head.js'
import { Empty, Loads } from '../parts/notice.js'
import { OperationForm } from '../parts/operation-form.js'
import { Facts, Table } from '../parts/table.js'
import { count, duration, share, usd } from '../text.js'

export const tabs = /** @type {const} */ ([
  ['/autopilot', 'Models'],
  ['/autopilot/decisions', 'Decisions'],
])

const columns = [
  column('Model', 'model'),
  column('Provider', 'provider'),
  column('Qualifies', 'qualifies', (yes) => (yes ? 'yes' : 'no')),
  number('Quality', 'quality_score', share),
  column('Between', 'quality_ci', ({ low, high }) => `${share(low)} and ${share(high)}`),
  number('Samples', 'samples'),
  number('Cost of a call', 'avg_cost_usd', usd),
  number('p95', 'p95_latency_ms', duration),
  column('Problem', 'problem'),
]

const fields = [
  'mode',
  'reference_model',
  'candidate_models',
  'quality_threshold',
  'judge',
  'sample_size',
  'max_cost_usd',
]

/** How autopilot routes, what it saves, and the scores by which it does. */
export function Autopilot() {
  const state = useLoad('/api/autopilot', { everyMs: 15_000 })
  const stats = useLoad('/api/autopilot/stats', { everyMs: 15_000 })
  const scores = useLoad('/api/autopilot/scores', { everyMs: 15_000 })
  const change = (/** @type {object} */ body) => () => ask('PUT', '/api/autopilot', { body })
  return html`
    <${Head} title="Autopilot" tabs=${tabs} at="/autopilot" />
    <${Loads} of=${state}>
      ${(/** @type {any} */ { config, state: now, current_route: route }) => html`
        <${Facts}
          of=${[
            ['State', html`<${State} of=${now} />`],
            ['On', html`<${State} of=${config.enabled} />`],
            ['Chooses by', config.mode],
            ['Leads to', route?.model ?? 'the model that was asked for'],
            ['Because', route?.reason ?? 'it has chosen nothing'],
          ]}
        />
        <${Actions} of=${[{ title: config.enabled ? 'Switch off' : 'Switch on', main: true, run: change({ enabled: !config.enabled }) }]} done=${state.reload} />
        <${Fold} title="Change">
          ${() => html`<${OperationForm} operation="PUT /api/autopilot" fields=${fields} values=${config} done=${state.reload} />`}
        <//>
      `}
    <//>
    <${Calibrate} />
    <${Loads} of=${stats}>
      ${(/** @type {any} */ data) => html`
        <div class="grid">
          <${Bars}
            title="Saved"
            items=${[
              { name: 'Today', value: data.today_savings },
              { name: 'In all', value: data.total_savings },
            ]}
            format=${usd}
          />
          <${Bars} title=${`${count(data.total_decisions)} decisions, by model`} items=${data.route_distribution.map((/** @type {any} */ one) => ({ name: one.model, value: one.count }))} format=${count} />
        </div>
      `}
    <//>
    <section>
      <h2>Scores</h2>
      <${Loads} of=${scores}>
        ${(/** @type {any} */ data) =>
          data.scores.length === 0
            ? html`<${Empty}>No model was compared yet.<//>`
            : html`<${Table} label="Scores" columns=${columns} rows=${data.scores} keyOf=${(/** @type {any} */ row) => `${row.provider} ${row.model}`} />`}
      <//>
    </section>
  `
}
