import { html } from '../html.js'
import { useLoad } from '../load.js'
import { Bars, TimeChart } from '../parts/chart.js'
import { Loads } from '../parts/notice.js'
import { go } from '../router.js'
import { usd } from '../text.js'

const spans = ['7', '30', '90']

/**
 * What calls cost, by day and by what they were for. A user sees the own calls.
 * @param {{ query: Record<string, string> }} props
 */
export function Costs({ query }) {
  const days = spans.includes(query.days ?? '') ? query.days : '30'
  const costs = useLoad('/api/observe/costs', { query: { days } })
  const daily = useLoad('/api/observe/costs/daily', { query: { days } })
  return html`
    <div class="head">
      <h1>Costs</h1>
      <div class="choice" role="group" aria-label="Days">
        ${spans.map(
          (one) => html`
            <button type="button" aria-pressed=${one === days} onClick=${() => go('/costs', { query: { days: one }, replace: true })}>
              ${one} days
            </button>
          `,
        )}
      </div>
    </div>
    <${Loads} of=${daily}>
      ${(/** @type {any} */ data) => html`
        <${TimeChart}
          title="Cost by day"
          times=${data.daily.map((/** @type {any} */ day) => day.date)}
          lines=${[{ label: 'Cost', values: data.daily.map((/** @type {any} */ day) => day.cost_usd), color: '--accent' }]}
          format=${usd}
        />
      `}
    <//>
    <${Loads} of=${costs}>
      ${(/** @type {any} */ data) => html`
        <p class="total">${usd(data.total_usd)} in ${data.days} days; ${usd(data.saved_by_cache_usd)} saved by caches.</p>
        <div class="grid">
          <${Bars} title="By model" items=${itemsOf(data.by_model, 'model')} format=${usd} />
          <${Bars} title="By provider" items=${itemsOf(data.by_provider, 'provider')} format=${usd} />
          <${Bars} title="By project" items=${itemsOf(data.by_project, 'project')} format=${usd} />
        </div>
      `}
    <//>
  `
}

/**
 * @param {readonly any[]} list
 * @param {string} name
 */
const itemsOf = (list, name) => list.map((one) => ({ name: one[name] ?? 'none', value: one.cost_usd }))
