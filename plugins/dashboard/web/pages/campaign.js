import { ask } from '../api.js'
import { html } from '../html.js'
import { Bars } from '../parts/chart.js'
import { column, plain, State, trace } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { Fold } from '../parts/fold.js'
import { OperationForm } from '../parts/operation-form.js'
import { Table } from '../parts/table.js'
import { Link } from '../router.js'
import { count, labelOf, share, usd } from '../text.js'

const columns = [
  column('Attack', 'attack_type', labelOf),
  column('Strategy', 'strategy'),
  column('Went past', 'bypassed_guardrail'),
  column('Answer', 'target_response_preview'),
  trace(),
]

/**
 * One campaign: how its hunts went, and what got through.
 * @param {{ id: string }} props
 */
export function Campaign({ id }) {
  const path = `/api/redteam/campaigns/${encodeURIComponent(id)}`
  return html`
    <${Detail}
      path=${path}
      everyMs=${5000}
      up=${['/redteam', 'Red team']}
      title=${(/** @type {any} */ one) => one.name}
      actions=${(/** @type {any} */ one) => [
        one.status === 'hunting' && { title: 'Pause', run: () => ask('POST', `${path}/pause`) },
        one.status === 'paused' && {
          title: 'Go on',
          main: true,
          run: () => ask('POST', `${path}/resume`, { body: { wait_ms: 0 } }),
        },
        ['hunting', 'paused'].includes(one.status) && {
          title: 'End the hunt',
          sure: 'What it has found stays.',
          run: () => ask('POST', `${path}/cancel`),
        },
      ]}
      facts=${(/** @type {any} */ one) => [
        ['Status', html`<${State} of=${one.status} />`],
        ['Grade', html`<${State} of=${one.grade} />`],
        ['Attacks', `${count(one.total_attacks)}, ${count(one.successful_attacks)} succeeded`],
        ['Share', share(one.asr)],
        ['Target', plain(one.target_url ?? one.target.model)],
        ['Cost', usd(one.cost_usd)],
        ['Requests', `${count(one.requests)} of ${count(one.budget.max_requests)}`],
        [
          'Vulnerabilities',
          html`<${Link} to="/redteam/vulnerabilities" query=${{ campaign_id: id }}>show<//>`,
        ],
      ]}
      change=${{ operation: 'PUT /api/redteam/campaigns/{id}', params: { id } }}
      remove="Its attacks and vulnerabilities go with it."
    >
      ${(/** @type {any} */ one, /** @type {() => void} */ reload) => html`
        <p>${one.purpose}</p>
        ${one.problem && html`<div class="problem"><p><code>${one.problem.code}</code>: ${one.problem.message}</p></div>`}
        <${Fold} title="Hunt">
          ${() => html`
            <${OperationForm}
              operation="POST /api/redteam/campaigns/{id}/hunt"
              params=${{ id }}
              fields=${['model', 'generations', 'population', 'judge_model']}
              without=${['api_key']}
              given=${{ wait_ms: 0 }}
              id="hunt"
              submit="Attack"
              done=${reload}
            />
          `}
        <//>
        <div class="grid">
          <${Bars} title="Share that succeeded, by attack" items=${one.results.by_type.map((/** @type {any} */ row) => ({ name: labelOf(row.attack_type), value: row.asr ?? 0 }))} format=${share} />
          <${Bars} title="Caught, by guard" items=${one.results.by_guardrail.map((/** @type {any} */ row) => ({ name: row.guardrail, value: row.caught }))} format=${count} />
        </div>
        ${
          one.results.top_bypasses.length > 0 &&
          html`<section>
            <h2>What got through</h2>
            <${Table} label="Attacks" columns=${columns} rows=${one.results.top_bypasses} keyOf=${(/** @type {any} */ row) => row.id} />
          </section>`
        }
      `}
    <//>
  `
}
