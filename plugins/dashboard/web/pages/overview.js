import { html } from '../html.js'
import { useLoad } from '../load.js'
import { Bars, TimeChart } from '../parts/chart.js'
import { Empty, Loads } from '../parts/notice.js'
import { go, Link } from '../router.js'
import { count, duration, share, short, usd } from '../text.js'

const periods = ['1h', '24h', '7d', '30d']

/**
 * How calls go: figures, and how they changed over time. A user sees the own calls.
 * @param {{ query: Record<string, string> }} props
 */
export function Overview({ query }) {
  const period = periods.includes(query.period ?? '') ? query.period : '24h'
  const everyMs = 15_000
  const overview = useLoad('/api/observe/overview', { everyMs })
  const series = useLoad('/api/observe/timeseries', { query: { period }, everyMs })
  return html`
    <div class="head">
      <h1>Overview</h1>
      <div class="choice" role="group" aria-label="Period of the charts">
        ${periods.map(
          (one) => html`
            <button type="button" aria-pressed=${one === period} onClick=${() => go('/', { query: { period: one }, replace: true })}>
              ${one}
            </button>
          `,
        )}
      </div>
    </div>
    <${Loads} of=${overview}>${(/** @type {any} */ data) => html`<${Figures} data=${data} />`}<//>
    <${Loads} of=${series}>${(/** @type {any} */ data) => html`<${Charts} points=${data.points} />`}<//>
    ${overview.data && html`<${Top} data=${overview.data} />`}
  `
}

/** @param {{ data: any }} props */
function Figures({ data }) {
  const { today } = data
  const figures = [
    ['Requests today', count(today.total_requests), `${short(data.total_requests)} in all`],
    ['Cost today', usd(today.total_cost_usd), `${usd(data.total_cost_usd)} in all`],
    ['Errors today', share(today.error_rate), `${share(data.error_rate)} in all`],
    ['Latency, p95', duration(today.p95_latency_ms), `${duration(today.avg_latency_ms)} on average`],
    [
      'Tokens today',
      short(today.tokens_in + today.tokens_out),
      `${short(today.tokens_in)} in, ${short(today.tokens_out)} out`,
    ],
    ['From a cache', share(today.cache_hit_rate), 'of the calls of today'],
  ]
  return html`
    <ul class="figures">
      ${figures.map(
        ([name, value, more]) =>
          html`<li><span class="name">${name}</span><strong>${value}</strong><span class="more">${more}</span></li>`,
      )}
    </ul>
  `
}

/** @param {{ points: readonly any[] }} props */
function Charts({ points }) {
  const times = points.map(({ bucket }) => bucket)
  const of = (/** @type {string} */ field) => points.map((point) => point[field])
  // A time without calls has no latency, which is not one of zero.
  const latency = (/** @type {string} */ field) =>
    points.map((point) => (point.requests === 0 ? null : point[field]))
  return html`
    <div class="grid">
      <${TimeChart}
        title="Requests and errors"
        times=${times}
        lines=${[
          { label: 'Requests', values: of('requests'), color: '--accent' },
          { label: 'Errors', values: of('errors'), color: '--bad' },
        ]}
        format=${(/** @type {number | null} */ value) => short(value === null ? null : Math.round(value))}
      />
      <${TimeChart} title="Cost" times=${times} lines=${[{ label: 'Cost', values: of('cost_usd'), color: '--accent' }]} format=${usd} />
      <${TimeChart}
        title="Latency"
        times=${times}
        lines=${[
          { label: 'p95', values: latency('p95_latency_ms'), color: '--warn' },
          { label: 'Average', values: latency('avg_latency_ms'), color: '--accent' },
        ]}
        format=${duration}
      />
      <${TimeChart}
        title="Tokens"
        times=${times}
        lines=${[
          { label: 'In', values: of('tokens_in'), color: '--accent' },
          { label: 'Out', values: of('tokens_out'), color: '--warn' },
        ]}
        format=${short}
      />
    </div>
  `
}

/** @param {{ data: any }} props */
function Top({ data }) {
  if (data.top_models.length === 0)
    return html`<${Empty}>No calls yet. Point a client at this gateway's <code>/v1</code>, with a key of <${Link} to="/keys">yours<//>.<//>`
  const items = (/** @type {any[]} */ list, /** @type {string} */ name) =>
    list.map((one) => ({ name: one[name] ?? 'none', value: one.requests }))
  return html`
    <div class="grid">
      <${Bars} title="Requests by model" items=${items(data.top_models, 'model')} format=${count} />
      <${Bars} title="Requests by provider" items=${items(data.top_providers, 'provider')} format=${count} />
    </div>
  `
}
