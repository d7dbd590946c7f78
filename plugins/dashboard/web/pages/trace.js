import { html } from '../html.js'
import { useLoad } from '../load.js'
import { Conversation } from '../parts/conversation.js'
import { Json } from '../parts/json.js'
import { Badge, Loads } from '../parts/notice.js'
import { Facts, Table } from '../parts/table.js'
import { Link } from '../router.js'
import { count, duration, none, usd, when } from '../text.js'
import { StatusOf } from './traces.js'

/**
 * One call: what it was, what each module did, which attempts were made, and its bodies.
 * @param {{ id: string }} props
 */
export function Trace({ id }) {
  const trace = useLoad(`/api/observe/traces/${encodeURIComponent(id)}`)
  return html`
    <h1>Trace</h1>
    <p class="id"><code>${id}</code></p>
    <${Loads} of=${trace}>${(/** @type {any} */ data) => html`<${Shown} trace=${data} />`}<//>
  `
}

/** @param {{ trace: any }} props */
function Shown({ trace }) {
  const { usage, error } = trace
  return html`
    <${Facts}
      of=${[
        ['Status', html`<${StatusOf} trace=${trace} />`],
        ['Time', when(trace.timestamp)],
        ['Model', trace.model ?? trace.model_requested],
        ['Asked for', trace.model_requested],
        ['Provider', trace.provider ?? none],
        ['Latency', duration(trace.latency_ms)],
        ['First token', duration(trace.ttft_ms)],
        ['In the gateway', duration(trace.overhead_ms)],
        ['Tokens in', count(usage.input)],
        ['Tokens out', count(usage.output)],
        ['Read from a cache', count(usage.cached_read)],
        ['Calls of tools', count(usage.tool_calls)],
        ['Cost', usd(trace.cost_usd)],
        ['Wire', trace.wire],
        ['Project', trace.project],
        ['User', trace.user_id ?? none],
        ['Generation', trace.chain_generation],
        [
          'Configuration',
          trace.config_hash === null ? none : html`<code>${trace.config_hash.slice(0, 12)}</code>`,
        ],
      ]}
    />
    ${error && html`<div class="problem"><p><code>${error.code}</code>: ${error.message}</p></div>`}
    <${Findings} findings=${trace.guardrails} />
    <${Attempts} attempts=${trace.attempts} />
    <${Steps} steps=${trace.modules} total=${trace.latency_ms} />
    <p><${Link} to="/replays" query=${{ trace: trace.id }}>Ask another model<//></p>
    <section>
      <h2>Conversation</h2>
      ${
        trace.body_status === 'stored'
          ? html`<${Conversation} request=${trace.request} response=${trace.response} />`
          : html`<p class="empty">Its bodies are not there: ${trace.body_status}.</p>`
      }
    </section>
    <section>
      <h2>As JSON</h2>
      <${Json} title="The whole trace" value=${trace} />
    </section>
  `
}

const tones = /** @type {const} */ ({ block: 'bad', blocked: 'bad', redact: 'warn', redacted: 'warn' })

/** @param {{ findings: readonly any[] }} props */
function Findings({ findings }) {
  if (findings.length === 0) return null
  return html`
    <section>
      <h2>Findings</h2>
      <ul class="findings">
        ${findings.map(
          (/** @type {any} */ one) => html`
            <li>
              <${Badge} tone=${/** @type {any} */ (tones)[one.action] ?? 'calm'}>${one.action}<//>
              ${one.module}: ${one.type} ${one.label} (${one.direction})
            </li>
          `,
        )}
      </ul>
    </section>
  `
}

/** @param {{ attempts: readonly any[] }} props */
function Attempts({ attempts }) {
  if (attempts.length === 0) return null
  const columns = [
    { title: 'Attempt', cell: (/** @type {any} */ row) => row.n },
    { title: 'Provider', cell: (/** @type {any} */ row) => row.provider },
    { title: 'Model', cell: (/** @type {any} */ row) => row.model },
    { title: 'Status', cell: (/** @type {any} */ row) => row.status ?? none },
    { title: 'Latency', number: true, cell: (/** @type {any} */ row) => duration(row.latency_ms) },
    { title: 'Then', cell: (/** @type {any} */ row) => row.error ?? row.reason_next ?? none },
  ]
  return html`
    <section>
      <h2>Attempts</h2>
      <${Table} label="Attempts" columns=${columns} rows=${attempts} keyOf=${(/** @type {any} */ row) => String(row.n)} />
    </section>
  `
}

/** @param {{ steps: readonly any[], total: number }} props */
function Steps({ steps, total }) {
  const longest = Math.max(...steps.map(({ ms }) => ms), total / 100, Number.MIN_VALUE)
  return html`
    <section>
      <h2>Modules</h2>
      <ol class="steps">
        ${steps.map(
          (step) => html`
            <li>
              <span class="name">${step.module}</span>
              <span class="hook">${step.hook ?? none}${step.mode === 'shadow' && ' (shadow)'}</span>
              <meter min="0" max=${longest} value=${step.ms} aria-hidden="true"></meter>
              <span class="value">${duration(step.ms)}</span>
              <span class="verdict">${step.verdict}${step.detail && ` – ${JSON.stringify(step.detail)}`}${grown(step.bytes_delta)}</span>
            </li>
          `,
        )}
      </ol>
    </section>
  `
}

/** @param {number | null} bytes */
const grown = (bytes) => (bytes ? ` (${bytes > 0 ? '+' : '−'}${count(Math.abs(bytes))} bytes)` : '')
