import { useState } from 'preact/hooks'
import { ask } from '../api.js'
import { html } from '../html.js'
import { useLoad } from '../load.js'
import { count, usd } from '../text.js'
import { Actions } from './actions.js'
import { State } from './columns.js'
import { Fold } from './fold.js'
import { Loads } from './notice.js'
import { OperationForm } from './operation-form.js'
import { Facts } from './table.js'

const fields = ['candidates', 'sample_size', 'max_cost_usd', 'dry_run']

/** Has candidates answer past calls again, or says what that would cost; it can be ended while it goes on. */
export function Calibrate() {
  const [begun, setBegun] = useState(/** @type {any} */ (undefined))
  return html`
    <${Fold} title="Calibrate">
      ${() => html`<${OperationForm} operation="POST /api/autopilot/calibrate" fields=${fields} without=${['trace_filter']} given=${{ wait_ms: 0 }} id="calibrate" submit="Calibrate" done=${setBegun} />`}
    <//>
    ${begun && (begun.calibration_id === null ? html`<${Shown} of=${begun} />` : html`<${Running} id=${begun.calibration_id} />`)}
  `
}

/** @param {{ id: string }} props */
function Running({ id }) {
  const path = `/api/autopilot/calibrations/${encodeURIComponent(id)}`
  const calibration = useLoad(path, { everyMs: 3000 })
  const cancel = {
    title: 'End it',
    sure: 'Its scores count for nothing.',
    run: () => ask('POST', `${path}/cancel`),
  }
  return html`
    <${Loads} of=${calibration}>
      ${(/** @type {any} */ data) => html`
        <${Shown} of=${data} />
        ${data.status === 'running' && html`<${Actions} label="Calibration" of=${[cancel]} done=${calibration.reload} />`}
      `}
    <//>
  `
}

/** @param {{ of: any }} props */
const Shown = ({ of }) => html`
  <div role="status">
    <${Facts}
      of=${[
        ['Calibration', html`<${State} of=${of.status} />`],
        ['Calls', count(of.traces_used)],
        ['Models', count(of.models_scored)],
        ['Cost', `${usd(of.cost_usd)} of ${usd(of.max_cost_usd)}`],
        ['Best', of.recommendation?.model ?? 'none yet'],
      ]}
    />
  </div>
`
