import { ask } from '../api.js'
import { html } from '../html.js'
import { useList } from '../load.js'
import { Actions } from '../parts/actions.js'
import { Bars } from '../parts/chart.js'
import { column, number, plain, State, state, trace } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { Json } from '../parts/json.js'
import { Listing } from '../parts/listing.js'
import { Link } from '../router.js'
import { count, duration, usd, when } from '../text.js'

/**
 * One run: its steps, of which one may wait for a person, and what came of it.
 * @param {{ id: string, query: Record<string, string> }} props
 */
export function WorkflowRun({ id, query }) {
  const path = `/api/forge/runs/${encodeURIComponent(id)}`
  const steps = useList(`${path}/steps`, query, 3000)
  const decide = (/** @type {string} */ step_id, /** @type {boolean} */ approved) => () =>
    ask('POST', `${path}/approve`, { body: { step_id, approved } })
  const columns = [
    column('Step', 'step_id'),
    column('Type', 'type'),
    state('Status', 'status'),
    number('Attempt', 'attempt'),
    number('Time', 'latency_ms', duration),
    number('Cost', 'cost_usd', usd),
    column('Error', 'error', (error) => error?.message),
    column(
      'Output',
      'output',
      (output) => output != null && html`<${Json} title="Output" value=${output} />`,
    ),
    trace(),
  ]
  return html`
    <${Detail}
      path=${path}
      everyMs=${3000}
      up=${['/workflows/runs', 'Runs']}
      title=${(/** @type {any} */ run) => `Run of ${run.workflow_slug}`}
      actions=${(/** @type {any} */ run) => [
        ['queued', 'running', 'waiting_human'].includes(run.status) && {
          title: 'End the run',
          sure: 'Its calls end at once.',
          run: () => ask('POST', `${path}/cancel`),
        },
      ]}
      facts=${(/** @type {any} */ run) => [
        ['Status', html`<${State} of=${run.status} />`],
        [
          'Workflow',
          html`<${Link} to=${`/workflows/${run.workflow_slug}`}>${run.workflow_slug}, version ${run.workflow_version}<//>`,
        ],
        ['Steps', `${count(run.steps_completed)} of ${count(run.steps_total)}`],
        ['Time', duration(run.duration_ms)],
        ['Cost', usd(run.cost_usd)],
        ['Tokens', `${count(run.tokens_in)} in, ${count(run.tokens_out)} out`],
        ['Began', when(run.started_at)],
        ['Ended', when(run.finished_at)],
        ['Error', plain(run.error?.message)],
      ]}
      remove="The run goes with its steps."
    >
      ${(/** @type {any} */ run, /** @type {() => void} */ reload) => html`
        ${
          run.status === 'waiting_human' &&
          steps.data?.steps
            .filter((/** @type {any} */ step) => step.type === 'human' && step.status === 'pending')
            .map(
              (/** @type {any} */ { step_id }) => html`
                <p key=${step_id}>
                  The step <code>${step_id}</code> waits for a person.
                  <${Actions}
                    label="Decide"
                    done=${reload}
                    of=${[
                      { title: 'Approve', main: true, run: decide(step_id, true) },
                      { title: 'Reject', run: decide(step_id, false) },
                    ]}
                  />
                </p>
              `,
            )
        }
        <section>
          <h2>Steps</h2>
          ${steps.data?.steps.length > 0 && html`<${Bars} title="Time by step" items=${steps.data.steps.map((/** @type {any} */ step) => ({ name: `${step.step_id} ${step.attempt}`, value: step.latency_ms }))} format=${duration} />`}
          <${Listing} of=${steps} items="steps" label="Steps" columns=${columns} empty="No step has begun." at=${`/workflows/runs/${id}`} query=${query} keyOf=${(/** @type {any} */ row) => `${row.step_id} ${row.attempt}`} />
        </section>
        <section>
          <h2>Input and output</h2>
          <${Json} title="Input" value=${run.input} />
          <${Json} key=${run.status} title="Output" value=${run.output} />
        </section>
      `}
    <//>
  `
}
