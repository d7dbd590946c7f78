import { ask } from '../api.js'
import { html } from '../html.js'
import { useAction, useLoad } from '../load.js'
import { Json } from '../parts/json.js'
import { Badge, Loads, Problem } from '../parts/notice.js'
import { SchemaForm } from '../parts/schema-form.js'
import { Facts } from '../parts/table.js'
import { Link } from '../router.js'
import { count, when } from '../text.js'

/**
 * One module: its state, its settings as a form, and how it runs.
 * @param {{ name: string }} props
 */
export function Module({ name }) {
  const path = `/api/proxy/modules/${encodeURIComponent(name)}`
  const module = useLoad(path, { everyMs: 15_000 })
  return html`
    <p class="trail"><${Link} to="/modules">Modules<//></p>
    <${Loads} of=${module}>${(/** @type {any} */ data) => html`<${Shown} path=${path} module=${data} reload=${module.reload} />`}<//>
  `
}

/** @param {{ path: string, module: any, reload: () => void }} props */
function Shown({ path, module, reload }) {
  const { busy, error, run } = useAction()
  const change = (/** @type {object} */ body) =>
    run(async () => {
      await ask('PUT', path, { body })
      reload()
    })
  const setting = useAction()
  const set = (/** @type {object} */ config) =>
    setting.run(async () => {
      await ask('PUT', path, { body: { config } })
      reload()
    })
  const { enabled, mode, stats } = module
  return html`
    <div class="head">
      <h1>${module.title}</h1>
      <div class="row">
        <button type="button" disabled=${busy} onClick=${() => change({ enabled: !enabled })}>${enabled ? 'Switch off' : 'Switch on'}</button>
        <button type="button" class="quiet" disabled=${busy} onClick=${() => change({ mode: mode === 'shadow' ? 'enforce' : 'shadow' })}>
          ${mode === 'shadow' ? 'Enforce' : 'Only watch (shadow)'}
        </button>
      </div>
    </div>
    <p>${module.description}</p>
    <${Problem} error=${error} />
    ${module.problem && html`<div class="problem"><p>${module.problem}</p></div>`}
    ${module.warnings.map((/** @type {string} */ text) => html`<p class="warning">${text}</p>`)}
    <${Facts}
      of=${[
        [
          'State',
          html`<${Badge} tone=${module.state === 'active' ? 'good' : module.state === 'disabled' ? 'calm' : 'bad'}>${module.state}<//>`,
        ],
        ['Mode', mode],
        ['Stage', module.category],
        ['Runs in', module.isolation === 'worker' ? 'a worker' : 'the process'],
        ['When it fails', module.failure === 'closed' ? 'calls are refused' : 'calls pass'],
        ['Runs', count(stats.calls)],
        ['Faults', count(stats.errors)],
        ['Refusals', count(stats.refusals)],
        ['p50', `${count(Math.round(stats.p50_us))} µs`],
        ['p99', `${count(Math.round(stats.p99_us))} µs`],
        ['Version', module.version],
        ['Changed', when(module.updated_at)],
      ]}
    />
    <section>
      <h2>Settings</h2>
      <${SchemaForm}
        schema=${module.config_schema}
        values=${module.config}
        busy=${setting.busy}
        error=${setting.error}
        save=${set}
      />
      <${Json} title="Settings in force" value=${module.config_effective} />
    </section>
    <section>
      <h2>Calls that it applies to</h2>
      ${module.when ? html`<pre>${JSON.stringify(module.when, null, 2)}</pre>` : html`<p class="empty">All calls.</p>`}
    </section>
  `
}
